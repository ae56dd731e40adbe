/* A mock upstream: answers every request at once with bytes that were made before, whole or as an event stream.
 *
 * mock PORT [--pace-ms N] ([--ahead N] --answer PATH-PREFIX REPLY-FILE STREAM-FILE)...
 *
 * REPLY-FILE is a JSON body. STREAM-FILE holds events, each ended by an empty line; they go out in chunks of their own,
 * all at once or one every N milliseconds, the first ones (--ahead, at least one) without waiting. A request wants a stream when its path ends in :streamGenerateContent…, or
 * its body holds "stream":true with or without a space. Ten # in an answer become the number of the answer, so that no
 * two are alike. One thread; loopback alone; ends with SIGTERM.
 */
#include "wire.h"

typedef struct {
    const char *prefix;
    Buffer reply, burst;
    Buffer *events;
    size_t count, ahead;
} Answer;

typedef struct Connection {
    int socket;
    Buffer in, out;
    size_t sent;
    const Answer *stream; /* the stream under way */
    char number[DIGITS + 1]; /* what stands for ten # in it */
    size_t next;          /* its next event */
    double due;           /* when that goes out */
    struct Connection *later, *before;
} Connection;

static Answer answers[16];
static int answer_count;
static double pace;
static int poller;
static Connection waiting = {.later = &waiting, .before = &waiting}; /* those in the middle of a paced stream, by time */

static const char STREAM_HEAD[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

static void chunk(Buffer *out, const char *bytes, size_t length) {
    char size[32];
    append(out, size, (size_t)sprintf(size, "%zx\r\n", length));
    append(out, bytes, length);
    append(out, "\r\n", 2);
}

static void add_answer(const char *prefix, const char *reply_file, const char *stream_file, size_t ahead) {
    if (answer_count == 16) usage("mock: at most 16 answers");
    Answer *answer = &answers[answer_count++];
    Buffer body = read_file(reply_file), stream = read_file(stream_file);
    char head[128];
    answer->prefix = prefix;
    answer->ahead = ahead;
    append(&answer->reply, head, (size_t)sprintf(head,
           "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n", body.length));
    append(&answer->reply, body.bytes, body.length);
    append(&answer->burst, STREAM_HEAD, sizeof STREAM_HEAD - 1);
    const char *at = stream.bytes, *end = stream.bytes + stream.length;
    while (at < end) {
        char *found = memmem(at, (size_t)(end - at), "\n\n", 2);
        const char *stop = found ? found + 2 : end;
        answer->events = realloc(answer->events, (answer->count + 1) * sizeof *answer->events);
        Buffer event = {0};
        chunk(&event, at, (size_t)(stop - at));
        append(&answer->burst, event.bytes, event.length);
        answer->events[answer->count++] = event;
        at = stop;
    }
    append(&answer->burst, "0\r\n\r\n", 5);
}

static const Answer *answer_for(const Buffer *request) {
    const char *path = memchr(request->bytes, ' ', request->length);
    for (int i = 0; path && i < answer_count; i++)
        if (strncmp(path + 1, answers[i].prefix, strlen(answers[i].prefix)) == 0) return &answers[i];
    return NULL;
}

static bool wants_stream(const Buffer *request, size_t head, size_t whole) {
    const char *body = request->bytes + head;
    char *line_end = memchr(request->bytes, '\r', head);
    return memmem(body, whole - head, "\"stream\":true", 13) || memmem(body, whole - head, "\"stream\": true", 14)
        || memmem(request->bytes, (size_t)(line_end - request->bytes), ":streamGenerateContent", 22);
}

static void unlink_waiting(Connection *connection) {
    if (!connection->later) return;
    connection->later->before = connection->before;
    connection->before->later = connection->later;
    connection->later = connection->before = NULL;
}

static void wait_until(Connection *connection, double due) {
    connection->due = due;
    connection->before = waiting.before;
    connection->later = &waiting;
    waiting.before->later = connection;
    waiting.before = connection;
}

static void hang_up(Connection *connection) {
    unlink_waiting(connection);
    close(connection->socket);
    free(connection->in.bytes);
    free(connection->out.bytes);
    free(connection);
}

/* Send what is there; false when the peer is gone. */
static bool flush(Connection *connection) {
    Buffer *out = &connection->out;
    while (connection->sent < out->length) {
        ssize_t sent = send(connection->socket, out->bytes + connection->sent, out->length - connection->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) break;
        if (sent < 0) return false;
        connection->sent += (size_t)sent;
    }
    if (connection->sent == out->length) out->length = connection->sent = 0;
    struct epoll_event interest = {EPOLLIN | (out->length ? EPOLLOUT : 0), {.ptr = connection}};
    epoll_ctl(poller, EPOLL_CTL_MOD, connection->socket, &interest);
    return true;
}

/* Write the number of the answer over the marks in all that is to go out from `from` on. */
static void write_number(Connection *connection, size_t from) {
    char *end = connection->out.bytes + connection->out.length, *at = connection->out.bytes + from;
    while ((at = memmem(at, (size_t)(end - at), MARK, DIGITS))) memcpy(at, connection->number, DIGITS);
}

static bool next_event(Connection *connection) {
    const Answer *stream = connection->stream;
    size_t from = connection->out.length;
    append(&connection->out, stream->events[connection->next].bytes, stream->events[connection->next].length);
    write_number(connection, from);
    if (++connection->next == stream->count) {
        append(&connection->out, "0\r\n\r\n", 5);
        connection->stream = NULL;
    } else {
        wait_until(connection, seconds() + pace);
    }
    return flush(connection);
}

static bool begin(Connection *connection, const Answer *answer, bool streamed) {
    static long answered;
    snprintf(connection->number, sizeof connection->number, "%0*ld", DIGITS, ++answered % 1000000000);
    size_t from = connection->out.length;
    if (!streamed) append(&connection->out, answer->reply.bytes, answer->reply.length);
    else if (pace == 0) append(&connection->out, answer->burst.bytes, answer->burst.length);
    else {
        append(&connection->out, STREAM_HEAD, sizeof STREAM_HEAD - 1);
        connection->stream = answer;
        for (connection->next = 0; connection->next + 1 < answer->ahead && connection->next + 1 < answer->count; connection->next++)
            append(&connection->out, answer->events[connection->next].bytes, answer->events[connection->next].length);
        write_number(connection, from);
        return next_event(connection);
    }
    write_number(connection, from);
    return flush(connection);
}

/* Answer every whole request that has come. */
static bool answer_all(Connection *connection) {
    for (size_t head; !connection->stream && (head = head_end(&connection->in)) != 0;) {
        const char *length = header_value(&connection->in, head, "content-length");
        size_t whole = head + (length ? strtoul(length, NULL, 10) : 0);
        if (connection->in.length < whole) return true;
        const Answer *answer = answer_for(&connection->in);
        bool streamed = answer && wants_stream(&connection->in, head, whole);
        consume(&connection->in, whole);
        if (!answer) {
            static const char missing[] = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
            append(&connection->out, missing, sizeof missing - 1);
            if (!flush(connection)) return false;
        } else if (!begin(connection, answer, streamed)) return false;
    }
    return true;
}

static bool take(Connection *connection) {
    for (;;) {
        reserve(&connection->in, 65536);
        ssize_t got = recv(connection->socket, connection->in.bytes + connection->in.length, 65536, 0);
        if (got < 0 && errno == EAGAIN) break;
        if (got <= 0) return false;
        connection->in.length += (size_t)got;
        connection->in.bytes[connection->in.length] = 0;
    }
    return answer_all(connection);
}

static void welcome(int listener) {
    int socket;
    while ((socket = accept(listener, NULL, NULL)) >= 0) {
        Connection *connection = calloc(1, sizeof *connection);
        if (!connection) die("memory");
        set_options(socket);
        connection->socket = socket;
        struct epoll_event interest = {EPOLLIN, {.ptr = connection}};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, socket, &interest) < 0) die("epoll_ctl");
    }
}

static void send_due(void) {
    for (double now = seconds(); waiting.later != &waiting && waiting.later->due <= now;) {
        Connection *connection = waiting.later;
        unlink_waiting(connection);
        if (!next_event(connection) || (!connection->stream && !answer_all(connection))) hang_up(connection);
    }
}

static int listen_on(int port) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = loopback(port);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) die("bind");
    if (listen(listener, 4096) < 0) die("listen");
    fcntl(listener, F_SETFL, O_NONBLOCK);
    return listener;
}

int main(int count, char **words) {
    if (count < 6) usage("mock PORT [--pace-ms N] ([--ahead N] --answer PATH-PREFIX REPLY-FILE STREAM-FILE)...");
    size_t ahead = 1;
    for (int i = 2; i < count; i++) {
        if (!strcmp(words[i], "--pace-ms") && i + 1 < count) pace = atof(words[++i]) / 1e3;
        else if (!strcmp(words[i], "--ahead") && i + 1 < count) ahead = strtoul(words[++i], NULL, 10);
        else if (!strcmp(words[i], "--answer") && i + 3 < count) add_answer(words[i + 1], words[i + 2], words[i + 3], ahead), i += 3;
        else usage("mock: unknown or unfinished option");
    }
    int listener = listen_on(atoi(words[1]));
    struct epoll_event interest = {EPOLLIN, {.ptr = NULL}}, events[256];
    if ((poller = epoll_create1(0)) < 0) die("epoll");
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &interest);
    puts("ready");
    fflush(stdout);
    for (;;) {
        int wait_ms = -1;
        if (waiting.later != &waiting) {
            double left = waiting.later->due - seconds();
            wait_ms = left <= 0 ? 0 : (int)(left * 1e3) + 1;
        }
        int ready = epoll_wait(poller, events, 256, wait_ms);
        for (int i = 0; i < ready; i++) {
            Connection *connection = events[i].data.ptr;
            if (!connection) welcome(listener);
            else if (((events[i].events & EPOLLOUT) && !flush(connection))
                     || ((events[i].events & ~(uint32_t)EPOLLOUT) && !take(connection))) hang_up(connection);
        }
        send_due();
    }
}
