/* What the mock upstream and the load generator share: growing buffers, and the frame of an HTTP/1.1 message. */
#ifndef WIRE_H
#define WIRE_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MARK "##########" /* stands for a number that is another one each time */
#define DIGITS (int)(sizeof MARK - 1)

typedef struct {
    char *bytes;
    size_t length, room;
} Buffer;

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static void usage(const char *sentence) {
    fprintf(stderr, "%s\n", sentence);
    exit(2);
}

/* Room for `more` bytes behind what is there, and a zero after them, so that the text can be searched. */
static void reserve(Buffer *buffer, size_t more) {
    if (buffer->length + more + 1 <= buffer->room) return;
    buffer->room = (buffer->length + more + 1) * 2;
    buffer->bytes = realloc(buffer->bytes, buffer->room);
    if (!buffer->bytes) die("memory");
}

static inline void append(Buffer *buffer, const char *bytes, size_t length) {
    reserve(buffer, length);
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = 0;
}

/* Forget the first `length` bytes. */
static void consume(Buffer *buffer, size_t length) {
    buffer->length -= length;
    memmove(buffer->bytes, buffer->bytes + length, buffer->length);
    if (buffer->bytes) buffer->bytes[buffer->length] = 0;
}

static Buffer read_file(const char *path) {
    Buffer content = {0};
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    for (;;) {
        reserve(&content, 65536);
        size_t got = fread(content.bytes + content.length, 1, 65536, file);
        if (!got) break;
        content.length += got;
        content.bytes[content.length] = 0;
    }
    fclose(file);
    return content;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

/* Where the head ends, behind the empty line; 0 while it is not whole. */
static size_t head_end(const Buffer *buffer) {
    if (buffer->length < 4) return 0;
    char *found = memmem(buffer->bytes, buffer->length, "\r\n\r\n", 4);
    return found ? (size_t)(found - buffer->bytes) + 4 : 0;
}

/* The value of a header in the first `end` bytes; NULL where there is none. */
static const char *header_value(const Buffer *buffer, size_t end, const char *name) {
    size_t length = strlen(name);
    for (const char *line = buffer->bytes; (line = memchr(line, '\n', buffer->bytes + end - line)) != NULL;) {
        line++;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            for (line += length + 1; *line == ' ';) line++;
            return line;
        }
    }
    return NULL;
}

static void set_options(int socket) {
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fcntl(socket, F_SETFL, O_NONBLOCK) < 0) die("fcntl");
}

static struct sockaddr_in loopback(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}
#endif
