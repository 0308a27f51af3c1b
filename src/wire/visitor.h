/* visitor.h - what a hello says about who comes, whatever it came through. */
#ifndef WIRE_VISITOR_H
#define WIRE_VISITOR_H
#include <stdbool.h>

struct desk_visitor;
struct json;
struct json_writer;

bool wire_is_ours(const struct json *params); /* the number it speaks */
/* Role, channel and names; false: something is missing or too long. The texts live as long as
 * `params`. */
bool wire_read_visitor(const struct json *params, struct desk_visitor *visitor);
/* The result of a hello that was accepted; its object stays open. */
void wire_write_welcome(struct json_writer *writer, const char *role);

#endif
