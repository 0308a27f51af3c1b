/*
 * shown.h - what a page may show of an ask: every text of the agent's through the one sanitizer,
 * the prompt and previews as blocks of spans. A page has no sanitizer of its own and builds no
 * HTML; what it sends back are ids, never shown text.
 */
#ifndef HTTP_PORTAL_SHOWN_H
#define HTTP_PORTAL_SHOWN_H

struct text;

/* The reply of ask/get with a member `shown` more; as it was if it holds no form. */
void shown_add(const char *reply_json, struct text *out);

#endif
