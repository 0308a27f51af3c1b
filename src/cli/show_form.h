/* show_form.h - a form on the screen: what is asked, and what may be answered. */
#ifndef CLI_SHOW_FORM_H
#define CLI_SHOW_FORM_H

struct json;

void show_form(const struct json *form); /* as form_encode wrote it */

#endif
