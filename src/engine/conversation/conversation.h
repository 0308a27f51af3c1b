/* conversation.h - hosts' conversations, what is said to them, and their questions as asks. */
#ifndef ENGINE_CONVERSATION_CONVERSATION_H
#define ENGINE_CONVERSATION_CONVERSATION_H
#include "core/conversation.h"
#include "core/fields/answer.h"
#include "engine/state.h"

/* conversation.c: hosts' conversations as the store has them */
struct conversation_record {
    char id[ASK_ID_BYTES], ask_id[ASK_ID_BYTES], earlier_ask_id[ASK_ID_BYTES];
    char principal[PRINCIPAL_BYTES];
    char *token_id, *label; /* owned */
    int64_t version, created_ms, changed_ms, last_event;
    struct conversation machine;
};
/* False: it is not one of ours, or damaged. */
bool conversation_record_read(struct conversation_record *record,
                              const struct store_conversation *stored, struct error *err);
void conversation_record_release(struct conversation_record *record);

/* What is said to one, and what comes of it. */
struct conversation_operation {
    struct operation operation; /* first; its id is the conversation's */
    enum conversation_event_kind kind;
    struct json *body;  /* as it was said; NULL: nothing with it */
    int64_t if_version; /* 0: any */
    bool is_admitted;   /* the question it brings may be asked */
    struct conversation_record record;
    struct tool_use *calls; /* TOOL_CALLS */
    size_t call_count;
    /* RESPONSE: the form that was asked, and what was answered to it */
    struct form form;
    struct answer answer;
    struct conversation_step step;
    char asked[ASK_ID_BYTES];            /* the ask that is over; "": none brought this */
    struct text events;                  /* of the step, as the store takes them */
    struct conversation_operation *next; /* of those that wait for one question to be settled */
    /* kept, or, with `failure`, not; NULL: it is replied */
    void (*after)(struct conversation_operation *update);
    struct error failure;
};
struct conversation_operation *conversation_operation_new(struct method_call call);
/* Reads the conversation, then calls `next`; fails where there is none that the session sees. */
void conversation_operation_load(struct conversation_operation *update,
                                 void (*next)(struct operation *operation));
void conversation_operation_step(struct operation *operation); /* once it is loaded */
/* and ends it */
void conversation_operation_reply(struct conversation_operation *update, bool is_already);
/* the same of one that is new */
void conversation_operation_reply_loaded(struct operation *operation);
/* Says that it has no place in this state; ends it. */
void conversation_operation_refuse(struct conversation_operation *update);
/* there is more of it */
void conversation_publish(struct engine *engine, const struct conversation_record *record);

/* question.c: a question of a conversation as an ask, and its end as what was said */
void question_begin(struct engine *engine, const struct conversation_record *record);
bool question_is(const struct engine *engine, const char *ask_id); /* of a conversation, open */
void question_on_alarm(struct engine *engine, struct alarm *alarm);
void questions_init(struct engine *engine);
void questions_load(struct engine *engine); /* those that are not known yet */
/* Another hub did something in this conversation. */
void question_follow(struct engine *engine, const char *conversation_id);
void questions_release(struct engine *engine);
void question_decide(struct operation *operation); /* one that is loaded; it ends */

#endif
