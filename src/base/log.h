/*
 * log.h - one line an event on stderr: `event key=value` on a terminal, else a JSON object.
 * stdout belongs to results. Only engine, fronts, channels, hub and cli log; the function that
 * handles an error logs it, one that returns it does not. People's and agents' words are never
 * logged.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

void log_set_level(enum log_level min);
/* stderr is this file, if it really is: from now on it is put aside whenever it is full. */
void log_keep_short(const char *path);
/* `format` yields "key=value key=value"; values have no blanks. */
void log_event(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_debug(...)   log_event(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)    log_event(LOG_INFO, __VA_ARGS__)
#define log_warning(...) log_event(LOG_WARNING, __VA_ARGS__)
#define log_error(...)   log_event(LOG_ERROR, __VA_ARGS__)

#endif
