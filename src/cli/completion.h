/*
 * completion.h - what may come next on a command line, from the tables of verbs, options, settings
 * and clients. The scripts of `sayso completion` ask `sayso __complete WORD...`, so whatever is
 * added to a table is completed without a change there.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

extern const char complete_command[]; /* "__complete" */
/* The last of `words` is the one being typed. Prints a line for each that fits: the word, a tab,
 * and what it is; ":files" where a file's name is wanted. */
void complete_print(int count, char **words);

#endif
