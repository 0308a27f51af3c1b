/* blocks.h - building a markup: raw text is collected per span, then made visible. */
#ifndef MARKUP_BLOCKS_H
#define MARKUP_BLOCKS_H
#include "markup/markup.h"

struct builder {
    struct markup *markup;
    struct text raw, address; /* of the span being collected, as received */
    unsigned styles;
    bool has_block;
};
void builder_begin(struct builder *builder, struct markup_block block);
/* Adds raw text in the style given; runs of one style are one span. */
void builder_add(struct builder *builder, unsigned styles, const char *bytes, size_t length);
void builder_end_span(struct builder *builder); /* the next text is a span of its own */
void builder_end(struct builder *builder);      /* the block */
void builder_language(struct builder *builder, const char *bytes, size_t length);
/* A block of one span. */
void builder_line(struct builder *builder, struct markup_block block, const char *bytes,
                  size_t length);

/* False: the parser is not there, or the text has more markup than anybody reads. */
bool markdown_build(struct builder *builder, const char *text, size_t length);
void diff_build(struct builder *builder, const char *text);

#endif
