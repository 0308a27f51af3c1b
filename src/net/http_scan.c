/* http_scan.c - the bytes of a head and of a chunked body; see http_scan.h. */
#include "net/http_scan.h"

static enum http_scanned refuse(struct http_fault *fault, int status, const char *why)
{
    *fault = (struct http_fault){ status, why };
    return HTTP_SCAN_REFUSED;
}

/* Behind CR LF: one more line, or the end. */
static enum http_scanned end_line(struct http_scan *scan, struct http_fault *fault)
{
    bool is_empty = scan->at - 1 == scan->line_at;

    if (is_empty && scan->line_count == 0)
        return refuse(fault, 400, "a request begins with its request line");
    scan->has_cr = false;
    scan->at++;
    if (is_empty)
        return HTTP_SCAN_DONE;
    scan->line_at = scan->at;
    if (scan->line_count++ > HTTP_FIELDS)
        return refuse(fault, 431, "a request has at most 100 headers");
    return HTTP_SCAN_MORE;
}

static enum http_scanned judge_byte(const struct http_scan *scan, unsigned char byte,
                                    struct http_fault *fault)
{
    bool is_first_line = scan->line_count == 0;

    if (byte == '\n')
        return refuse(fault, 400, "lines end with CR LF");
    if (byte == 0x7f || (byte < 0x20 && (byte != '\t' || is_first_line)))
        return refuse(fault, 400, "a head has no control characters");
    if (!is_first_line && scan->at == scan->line_at && (byte == ' ' || byte == '\t'))
        return refuse(fault, 400, "a header does not begin with a blank");
    if (is_first_line && scan->at >= HTTP_LINE_BYTES)
        return refuse(fault, 414, "a request line has at most 8192 bytes");
    return HTTP_SCAN_MORE;
}

enum http_scanned http_scan_head(struct http_scan *scan, const char *bytes, size_t length,
                                 struct http_fault *ret_fault)
{
    while (scan->at < length) {
        unsigned char byte = (unsigned char)bytes[scan->at];
        enum http_scanned scanned;

        if (scan->at >= HTTP_HEAD_BYTES)
            return refuse(ret_fault, 431, "a head has at most 32768 bytes");
        if (scan->has_cr) {
            if (byte != '\n')
                return refuse(ret_fault, 400, "lines end with CR LF");
            scanned = end_line(scan, ret_fault);
            if (scanned != HTTP_SCAN_MORE)
                return scanned;
            continue;
        }
        if (byte == '\r') {
            scan->has_cr = true;
        } else {
            scanned = judge_byte(scan, byte, ret_fault);
            if (scanned != HTTP_SCAN_MORE)
                return scanned;
        }
        scan->at++;
    }
    return HTTP_SCAN_MORE;
}

enum chunk_step {
    CHUNK_SIZE,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_END_CR,
    CHUNK_END_LF,
};
enum { CHUNK_DIGITS = 7 }; /* 256 MiB, far above any body we take */

int http_hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return -1;
}

static enum http_scanned scan_size(struct http_chunks *chunks, char byte, struct http_fault *fault)
{
    int digit = http_hex_digit(byte);

    if (digit >= 0 && chunks->digits < CHUNK_DIGITS) {
        chunks->left = chunks->left * 16 + (uint32_t)digit;
        chunks->digits++;
        return HTTP_SCAN_MORE;
    }
    if (digit >= 0)
        return refuse(fault, 413, "a chunk is too long");
    if (byte != '\r' || chunks->digits == 0)
        return refuse(fault, 400, "a chunk's size is hexadecimal digits and nothing else");
    chunks->step = CHUNK_SIZE_LF;
    return HTTP_SCAN_MORE;
}

/* The bytes between the data; each step wants one of them. */
static enum http_scanned scan_frame(struct http_chunks *chunks, char byte, struct http_fault *fault)
{
    switch ((enum chunk_step)chunks->step) {
    case CHUNK_SIZE:
        return scan_size(chunks, byte, fault);
    case CHUNK_SIZE_LF:
    case CHUNK_DATA_LF:
    case CHUNK_END_LF:
        if (byte != '\n')
            return refuse(fault, 400, "lines of a chunked body end with CR LF");
        break;
    case CHUNK_DATA_CR:
        if (byte != '\r')
            return refuse(fault, 400, "a chunk is longer than its size says");
        break;
    case CHUNK_END_CR:
        if (byte != '\r')
            return refuse(fault, 400, "trailers are not taken");
        break;
    case CHUNK_DATA:
        break;
    }
    switch ((enum chunk_step)chunks->step) {
    case CHUNK_SIZE_LF:
        chunks->step = chunks->left ? CHUNK_DATA : CHUNK_END_CR;
        break;
    case CHUNK_DATA_CR:
        chunks->step = CHUNK_DATA_LF;
        break;
    case CHUNK_DATA_LF:
        *chunks = (struct http_chunks){ 0 };
        break;
    case CHUNK_END_CR:
        chunks->step = CHUNK_END_LF;
        break;
    case CHUNK_END_LF:
        return HTTP_SCAN_DONE;
    case CHUNK_SIZE:
    case CHUNK_DATA:
        break;
    }
    return HTTP_SCAN_MORE;
}

enum http_scanned http_chunks_scan(struct http_chunks *chunks, const char *bytes, size_t length,
                                   size_t *ret_used, struct http_fault *ret_fault)
{
    size_t at = 0;

    while (at < length) {
        enum http_scanned scanned;

        if (chunks->step == CHUNK_DATA) {
            size_t part = length - at < chunks->left ? length - at : chunks->left;

            chunks->left -= (uint32_t)part;
            at += part;
            if (chunks->left == 0)
                chunks->step = CHUNK_DATA_CR;
            continue;
        }
        scanned = scan_frame(chunks, bytes[at], ret_fault);
        at++;
        if (scanned != HTTP_SCAN_MORE) {
            *ret_used = at;
            return scanned;
        }
    }
    *ret_used = at;
    return HTTP_SCAN_MORE;
}
