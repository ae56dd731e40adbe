/* A load generator: keeps N connections busy with requests, and tells what came back.
 *
 * load PORT REQUEST-FILE --connections N --requests N [--timeout-s N] [--spread-ms N] [--number N]
 *
 * REQUEST-FILE holds whole HTTP/1.1 requests, one after another. They are sent in that order, from the first again after
 * the last, each on the next connection whose answer is whole. Prints one JSON
 * object: requests, errors (a status other than 200, a broken answer), seconds, events (empty lines in bodies), bytes of
 * bodies, and in milliseconds the quantiles of the whole answer and of its first piece of body. The connections begin at
 * once, or spread over so many milliseconds. Ten # in the request become another number each time, from --number on. One
 * thread.
 */
#include "wire.h"

typedef enum { HEAD, BODY, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER } State;

typedef struct {
    int socket;
    State state;
    Buffer in;
    const char *request;
    size_t length, left, sent;
    bool ok, closes, last_newline;
    double began, first;
} Connection;

static Buffer file;
static const char **starts; /* where each request of the file begins, and where the last one ends */
static size_t kinds;
static char *place;
static long number;
static struct sockaddr_in address;
static int poller;
static long wanted, started, finished, errors, events;
static uint64_t body_bytes;
static double *wholes, *firsts;

static void connect_again(Connection *connection);

static bool push(Connection *connection) {
    while (connection->sent < connection->length) {
        ssize_t sent = send(connection->socket, connection->request + connection->sent, connection->length - connection->sent, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN)) break;
        if (sent < 0) return false;
        connection->sent += (size_t)sent;
    }
    struct epoll_event interest = {EPOLLIN | (connection->sent < connection->length ? EPOLLOUT : 0), {.ptr = connection}};
    epoll_ctl(poller, EPOLL_CTL_MOD, connection->socket, &interest);
    return true;
}

/* Write another number; whoever is still sending the request sends digits of both. */
static void count_on(void) {
    long left = number++;
    for (int digit = DIGITS - 1; digit >= 0; digit--, left /= 10) place[digit] = (char)('0' + left % 10);
}

static void ask(Connection *connection) {
    if (started == wanted) return;
    size_t next = (size_t)started++ % kinds;
    connection->request = starts[next];
    connection->length = (size_t)(starts[next + 1] - starts[next]);
    if (place) count_on();
    connection->state = HEAD;
    connection->sent = 0;
    connection->ok = true;
    connection->last_newline = false;
    connection->first = 0;
    connection->began = seconds();
    if (!push(connection)) connect_again(connection);
}

static void finish(Connection *connection, bool ok) {
    double now = seconds();
    if (ok) {
        wholes[finished - errors] = (now - connection->began) * 1e3;
        firsts[finished - errors] = ((connection->first ? connection->first : now) - connection->began) * 1e3;
    } else errors++;
    finished++;
}

/* Count what a piece of body holds. */
static void see(Connection *connection, const char *bytes, size_t length) {
    if (length && !connection->first) connection->first = seconds();
    body_bytes += length;
    for (size_t i = 0; i < length; i++) {
        bool newline = bytes[i] == '\n';
        if (newline && connection->last_newline) events++, connection->last_newline = false;
        else if (bytes[i] != '\r') connection->last_newline = newline;
    }
}

/* Take what has come; true when the answer is whole. */
static bool take(Connection *connection) {
    for (;;) {
        Buffer *in = &connection->in;
        switch (connection->state) {
        case HEAD: {
            size_t head = head_end(in);
            if (!head) return false;
            const char *length = header_value(in, head, "content-length"), *closes = header_value(in, head, "connection");
            const char *coding = header_value(in, head, "transfer-encoding");
            connection->ok = strncmp(in->bytes + 9, "200", 3) == 0;
            connection->closes = closes && strncasecmp(closes, "close", 5) == 0;
            connection->left = length ? strtoul(length, NULL, 10) : 0;
            connection->state = coding && strncasecmp(coding, "chunked", 7) == 0 ? CHUNK_SIZE : BODY;
            consume(in, head);
            break;
        }
        case BODY:
        case CHUNK: {
            size_t got = in->length < connection->left ? in->length : connection->left;
            see(connection, in->bytes, got);
            consume(in, got);
            connection->left -= got;
            if (connection->left) return false;
            if (connection->state == BODY) return true;
            connection->state = CHUNK_END;
            break;
        }
        case CHUNK_END:
            if (in->length < 2) return false;
            consume(in, 2);
            connection->state = CHUNK_SIZE;
            break;
        case CHUNK_SIZE: {
            char *end = in->length ? memmem(in->bytes, in->length, "\r\n", 2) : NULL;
            if (!end) return false;
            connection->left = strtoul(in->bytes, NULL, 16);
            consume(in, (size_t)(end - in->bytes) + 2);
            connection->state = connection->left ? CHUNK : TRAILER;
            break;
        }
        case TRAILER:
            if (in->length < 2) return false;
            consume(in, 2);
            return true;
        }
    }
}

static void receive(Connection *connection) {
    for (;;) {
        reserve(&connection->in, 65536);
        ssize_t got = recv(connection->socket, connection->in.bytes + connection->in.length, 65536, 0);
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) {
            if (connection->began) finish(connection, false);
            connect_again(connection);
            return;
        }
        connection->in.length += (size_t)got;
        connection->in.bytes[connection->in.length] = 0;
        if (take(connection)) {
            finish(connection, connection->ok);
            connection->began = 0;
            if (connection->closes) connect_again(connection);
            else ask(connection);
        }
    }
}

static void connect_again(Connection *connection) {
    if (connection->socket > 0) close(connection->socket);
    connection->socket = 0;
    connection->in.length = 0;
    connection->began = 0;
    if (started == wanted) return;
    if ((connection->socket = socket(AF_INET, SOCK_STREAM, 0)) < 0) die("socket");
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
    set_options(connection->socket);
    struct epoll_event interest = {EPOLLIN, {.ptr = connection}};
    epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &interest);
    ask(connection);
}

/* Find where each request of the file begins. */
static void part(void) {
    size_t room = 0;
    for (size_t at = 0; at < file.length;) {
        Buffer rest = {file.bytes + at, file.length - at, 0};
        size_t head = head_end(&rest);
        const char *length = head ? header_value(&rest, head, "content-length") : NULL;
        size_t whole = head + (length ? strtoul(length, NULL, 10) : 0);
        if (!head || whole > rest.length) usage("load: the file does not hold whole requests");
        if (kinds + 2 > room && !(starts = realloc(starts, (room = 2 * room + 2) * sizeof *starts))) die("memory");
        starts[kinds++] = rest.bytes;
        starts[kinds] = rest.bytes + whole;
        at += whole;
    }
    if (!kinds) usage("load: the file holds no request");
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, long count, double share) {
    return count ? sorted[(long)(share * (double)(count - 1))] : 0;
}

static void report(double took) {
    long good = finished - errors;
    qsort(wholes, (size_t)good, sizeof *wholes, by_size);
    qsort(firsts, (size_t)good, sizeof *firsts, by_size);
    printf("{\"requests\":%ld,\"errors\":%ld,\"unfinished\":%ld,\"seconds\":%.6f,\"events\":%ld,\"body_bytes\":%llu,"
           "\"whole_ms\":{\"p50\":%.3f,\"p99\":%.3f},\"first_ms\":{\"p50\":%.3f,\"p99\":%.3f}}\n",
           finished, errors, wanted - finished, took, events, (unsigned long long)body_bytes, quantile(wholes, good, 0.5),
           quantile(wholes, good, 0.99), quantile(firsts, good, 0.5), quantile(firsts, good, 0.99));
}

int main(int count, char **words) {
    long connections = 16;
    double timeout = 60, spread = 0;
    if (count < 3) usage("load PORT REQUEST-FILE --connections N --requests N [--timeout-s N] [--spread-ms N] [--number N]");
    for (int i = 3; i + 1 < count; i += 2) {
        if (!strcmp(words[i], "--connections")) connections = atol(words[i + 1]);
        else if (!strcmp(words[i], "--requests")) wanted = atol(words[i + 1]);
        else if (!strcmp(words[i], "--timeout-s")) timeout = atof(words[i + 1]);
        else if (!strcmp(words[i], "--spread-ms")) spread = atof(words[i + 1]) / 1e3;
        else if (!strcmp(words[i], "--number")) number = atol(words[i + 1]);
        else usage("load: unknown option");
    }
    if (wanted < 1 || connections < 1) usage("load: --requests and --connections want a number from 1 on");
    file = read_file(words[2]);
    part();
    place = number ? memmem(file.bytes, file.length, MARK, DIGITS) : NULL;
    address = loopback(atoi(words[1]));
    wholes = calloc((size_t)wanted, sizeof *wholes);
    firsts = calloc((size_t)wanted, sizeof *firsts);
    Connection *all = calloc((size_t)connections, sizeof *all);
    if (!wholes || !firsts || !all || (poller = epoll_create1(0)) < 0) die("memory");
    double began = seconds();
    long opened = 0;
    struct epoll_event ready[256];
    while (finished < wanted && seconds() - began < timeout) {
        while (opened < connections && seconds() - began >= spread * (double)opened / (double)connections) connect_again(&all[opened++]);
        int found = epoll_wait(poller, ready, 256, opened < connections ? 1 : 1000);
        for (int i = 0; i < found; i++) {
            Connection *connection = ready[i].data.ptr;
            if ((ready[i].events & EPOLLOUT) && !push(connection)) connect_again(connection);
            else if (ready[i].events & ~(uint32_t)EPOLLOUT) receive(connection);
        }
    }
    report(seconds() - began);
    return finished < wanted || errors ? 1 : 0;
}
