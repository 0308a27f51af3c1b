/* engine_clients.h - clients that can show forms, at the stage's service. */
#ifndef TESTS_ENGINE_CLIENTS_H
#define TESTS_ENGINE_CLIENTS_H
#include "engine_fixture.h"

enum { DAY_MS = 86400000 };
#define LEGACY    "'client':{'era':'legacy','form':true}"
#define MODERN    "'client':{'era':'modern','form':true}"
#define CLOCKLESS "'client':{'era':'legacy','form':true,'stops_clock':true}"

struct caller *enter_client(struct stage *stage, const char *version);
struct caller *enter_person(struct stage *stage, const char *via);
/* An ask of such a client; `more` are members beside its arguments. */
void ask(struct call *call, struct caller *client, const char *title, const char *arguments,
         const char *more);
/* The id of what the client was asked last; "" : it was not. */
const char *shown_id(const struct caller *client);
void return_form(struct caller *client, const char *id, const char *members);
/* Modern: what its client is to come back with; the caller frees. */
char *state_of(const struct call *asked);
char *ask_modern(struct call *asked, struct caller *client, const char *title); /* and that */
/* The same call again, with the state and what the client's form returned. */
void come_back(struct call *asked, struct caller *client, const char *title, const char *state,
               const char *response);
/* `side`: one of those above, or like them. */
void come_back_as(struct call *asked, struct caller *client, const char *title, const char *side,
                  const char *state, const char *response);

#endif
