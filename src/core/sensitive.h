/*
 * sensitive.h - names of fields that ask for secrets, which no form may (R4.4), and questions that
 * speak of them, which a person is warned about.
 */
#ifndef CORE_SENSITIVE_H
#define CORE_SENSITIVE_H
#include <stdbool.h>

/* "password", "apiKey", "GITHUB_TOKEN", "PIN code"; not "max_tokens", "token_count" or "key". */
bool sensitive_is_name(const char *name);
bool sensitive_is_mentioned(const char *prose);

#endif
