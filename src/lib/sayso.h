/*
 * sayso.h - libsayso: puts questions to a person and brings back exactly what they answered.
 *
 *     struct sayso *sayso = sayso_new();
 *
 *     if (sayso_confirm(sayso, "Publish version 3 now? All checks are green.") == SAYSO_OK)
 *         publish();
 *     sayso_free(sayso);
 *
 * The hub is found or started as `sayso ask` does it. An ask belongs to the hub: it outlives this
 * program, and its answer is collected later by its id or by asking the same again.
 *
 * Nothing here prints, aborts, takes signals or keeps global state. Whatever goes wrong is a code
 * of enum sayso_code, with words for it. A handle and its requests belong to one thread at a time;
 * different handles may be used by different threads at the same time. All texts are UTF-8.
 *
 * Functions are only ever added. libsayso(3) tells the rest.
 */
#ifndef LIB_SAYSO_H
#define LIB_SAYSO_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAYSO_API __attribute__((visibility("default")))

/* Only SAYSO_OK means that a person answered, and never a no to sayso_confirm. */
enum sayso_code {
    SAYSO_OK = 0,
    SAYSO_PENDING = 1,           /* no one has decided yet; the ask stays open */
    SAYSO_DECLINED = 2,          /* the person said no */
    SAYSO_CANCELLED = 3,         /* dismissed by the person, or taken back by sayso_cancel */
    SAYSO_TIMEOUT = 4,           /* the ask's own time is over, no one answered */
    SAYSO_NOT_SUPPORTED = 5,     /* there is no way to reach a person, or this hub can't ask so */
    SAYSO_CHANNEL_CLOSED = 6,    /* the hub can't be reached, or was stopped */
    SAYSO_VALIDATION_FAILED = 7, /* the question is malformed; the error text names the place */
    SAYSO_NOT_FOUND = 8,         /* no such ask of ours; nothing under that name in the answer */
    SAYSO_RATE_LIMITED = 9,      /* too many questions open, or too many a minute */
    SAYSO_NO_MEMORY = 10,
    SAYSO_MISUSE = 11,  /* an argument is NULL, or out of its range */
    SAYSO_REFUSED = 12, /* by the hub, for another reason: the error text says which */
};
SAYSO_API const char *sayso_code_name(int code); /* "declined"; "unknown" for other numbers */
SAYSO_API const char *sayso_version(void);

/* A handle: one connection to a hub, made when it is needed and again when it was lost. */
struct sayso;
SAYSO_API struct sayso *sayso_new(void); /* NULL: out of memory */
/* Requests that are still there go with it; their asks stay open. NULL is fine. */
SAYSO_API void sayso_free(struct sayso *sayso);

enum sayso_option {
    SAYSO_NAME = 0,      /* of this program, as people are told; default: its file's name */
    SAYSO_AS = 1,        /* whose asks these are, whatever the name and directory; default: none */
    SAYSO_DIRECTORY = 2, /* that the work is about; default: the working directory */
    SAYSO_SOCKET = 3,    /* a hub's socket, which is then never started; default: the user's own */
    SAYSO_PROGRAM = 4,   /* that is started as the hub; default: sayso in PATH, then usual places */
    SAYSO_START = 5,     /* "yes" (default) or "no": whether a hub may be started */
    SAYSO_PATIENCE_MS = 6, /* how long a hub is looked for before giving up; default "20000" */
    SAYSO_SUB_AGENT = 7,   /* "yes" or "no" (default): we ask for an agent of another agent */
};
/* Before the first use; the value is copied, NULL is the default again. */
SAYSO_API int sayso_set(struct sayso *sayso, int option, const char *value);
/* Why the last call on this handle failed; "" if it did not. Valid until the next call. */
SAYSO_API const char *sayso_error(const struct sayso *sayso);
/* Not needed before asking: reaches the hub now, waiting at most so long (-1: as long as the
 * handle's patience lasts). SAYSO_PENDING: not yet, it goes on with the next call. */
SAYSO_API int sayso_connect(struct sayso *sayso, int timeout_ms);

/*
 * Asking and waiting. Each returns when a person has decided, or with a code that says why not.
 * What is returned through char ** belongs to the caller, who ends it with sayso_release.
 */
/* `choices` are pairs of a value and the label people read, then NULL. */
SAYSO_API int sayso_choose(struct sayso *sayso, const char *message, const char *const *choices,
                           char **ret_value);
SAYSO_API int sayso_text_input(struct sayso *sayso, const char *message, char **ret_text);
SAYSO_API int sayso_confirm(struct sayso *sayso, const char *message); /* SAYSO_OK: yes */
/* NAN: no such bound. With both it is a slider where there is one. */
SAYSO_API int sayso_number(struct sayso *sayso, const char *message, double minimum, double maximum,
                           double *ret_number);
/* Several values in one form by a JSON Schema (see elicit_form); the values come back as JSON. */
SAYSO_API int sayso_elicit(struct sayso *sayso, const char *message, const char *schema_json,
                           char **ret_content_json);
/* One to four questions with two to four options each, as JSON; {question: answer} comes back. */
SAYSO_API int sayso_ask_user_question(struct sayso *sayso, const char *questions_json,
                                      char **ret_answers_json);
/* Any tool with any arguments, as JSON. The whole result comes back whenever there is one, also
 * with SAYSO_DECLINED, SAYSO_CANCELLED and SAYSO_TIMEOUT; else NULL. */
SAYSO_API int sayso_ask(struct sayso *sayso, const char *tool, const char *arguments_json,
                        char **ret_result_json);
SAYSO_API void sayso_release(char *text); /* NULL is fine */

/*
 * Questions that are built piece by piece, of any tool. A piece that can't be added makes the
 * question unfit, which is said when it is asked: the functions need not be checked one by one.
 */
struct sayso_question;
SAYSO_API struct sayso_question *sayso_question_new(const char *tool); /* NULL: out of memory */
SAYSO_API void sayso_question_free(struct sayso_question *question);
/* Arguments of the tool by their names: message, title, timeout_seconds, idempotency_key … */
SAYSO_API void sayso_question_text(struct sayso_question *question, const char *name,
                                   const char *text);
SAYSO_API void sayso_question_number(struct sayso_question *question, const char *name,
                                     double number);
SAYSO_API void sayso_question_flag(struct sayso_question *question, const char *name, int is_yes);
SAYSO_API void sayso_question_json(struct sayso_question *question, const char *name,
                                   const char *json);
/* An option of provide_choice or elicit_choice; description may be NULL. */
SAYSO_API void sayso_question_option(struct sayso_question *question, const char *value,
                                     const char *label, const char *description,
                                     int is_recommended);
/* A field of elicit_form; title may be NULL. */
SAYSO_API void sayso_question_text_field(struct sayso_question *question, const char *name,
                                         const char *title, int is_required);
SAYSO_API void sayso_question_number_field(struct sayso_question *question, const char *name,
                                           const char *title, int is_required, double minimum,
                                           double maximum);
SAYSO_API void sayso_question_choice_field(struct sayso_question *question, const char *name,
                                           const char *title, int is_required,
                                           const char *const *choices);
SAYSO_API void sayso_question_confirm_field(struct sayso_question *question, const char *name,
                                            const char *title, int is_required);

/*
 * Requests: asks that are under way, as many at the same time as you like. They advance in
 * sayso_wait, sayso_wait_any and sayso_dispatch, and nowhere else.
 */
struct sayso_request;
/* NULL: sayso_error says why. The question may be freed afterwards, or asked again. */
SAYSO_API struct sayso_request *sayso_submit(struct sayso *sayso,
                                             const struct sayso_question *question);
SAYSO_API struct sayso_request *sayso_submit_json(struct sayso *sayso, const char *tool,
                                                  const char *arguments_json);
/* An ask of an earlier request, maybe of another run of this program. */
SAYSO_API struct sayso_request *sayso_collect(struct sayso *sayso, const char *id);
/* Decided: it counts as delivered, so the next identical ask is a new one. Else: no one waits any
 * more, and the ask stays open; the same question asked again takes it up. NULL is fine. */
SAYSO_API void sayso_request_free(struct sayso_request *request);

SAYSO_API int sayso_request_code(const struct sayso_request *request); /* SAYSO_PENDING: not yet */
SAYSO_API const char *sayso_request_error(const struct sayso_request *request); /* "": none */
SAYSO_API const char *sayso_request_id(const struct sayso_request *request); /* "": not yet told */
/* The whole result as JSON, NULL while there is none; of one that is handed to a terminal also
 * while it is open, with terminal_command. Valid until the next call on the handle. */
SAYSO_API const char *sayso_request_result(const struct sayso_request *request);
/* Takes the ask back: it ends with SAYSO_CANCELLED unless a person was faster. */
SAYSO_API int sayso_cancel(struct sayso_request *request);
/* Until it is over, at most so long (-1: no limit). Returns its code, SAYSO_PENDING if it is not.
 */
SAYSO_API int sayso_wait(struct sayso_request *request, int timeout_ms);
/* The first of the handle's requests that is over, the same again until it is freed; NULL after so
 * long, or if there is none. */
SAYSO_API struct sayso_request *sayso_wait_any(struct sayso *sayso, int timeout_ms);

/*
 * What was answered, once the code is SAYSO_OK. `field` is a field's name, the question's text in
 * ask_user_question, or NULL where there is one value alone.
 */
/* A text, or the value of what was chosen first; NULL: neither. Lives as long as the request. */
SAYSO_API const char *sayso_answer_text(const struct sayso_request *request, const char *field);
SAYSO_API int sayso_answer_number(const struct sayso_request *request, const char *field,
                                  double *ret_number);
SAYSO_API int sayso_answer_yes(const struct sayso_request *request, const char *field,
                               int *ret_is_yes);
SAYSO_API size_t sayso_answer_count(const struct sayso_request *request, const char *field);
SAYSO_API const char *sayso_answer_item(const struct sayso_request *request, const char *field,
                                        size_t index);
SAYSO_API const char *sayso_answer_note(const struct sayso_request *request); /* NULL: none */

/*
 * For programs with a poll() of their own. All three may change with every call on the handle: ask
 * for them before each poll(), then dispatch, whatever poll() returned. Nothing here waits.
 */
SAYSO_API int sayso_fd(const struct sayso *sayso);         /* -1: none, only the time counts */
SAYSO_API int sayso_events(const struct sayso *sayso);     /* POLLIN, POLLOUT */
SAYSO_API int sayso_timeout_ms(const struct sayso *sayso); /* as poll() takes it */
SAYSO_API int sayso_dispatch(struct sayso *sayso); /* how many requests are over, never negative */

#ifdef __cplusplus
}
#endif

#endif
