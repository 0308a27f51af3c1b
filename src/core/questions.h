/* questions.h - the answers of ask_user_question as agents get them, whichever front asked. */
#ifndef CORE_QUESTIONS_H
#define CORE_QUESTIONS_H

struct answer;
struct form;
struct json_writer;

/* Members answers and answer_list (R3.2). */
void questions_write_answers(struct json_writer *writer, const struct form *form,
                             const struct answer *answer);

#endif
