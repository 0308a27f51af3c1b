/* diff.h - what a change does to a text, line by line, as `diff -u` shows it. */
#ifndef CLI_INSTALL_DIFF_H
#define CLI_INSTALL_DIFF_H
struct text;

/* Appends nothing where both are the same. `path` stands in its head. */
void diff_add(struct text *out, const char *path, const struct text *before,
              const struct text *after);

#endif
