/*
 * world.h - one history: hubs, people, agents, a clock, a network and bad luck, all drawn from one
 * seed. The scheduler takes one small step at a time and every step is one line when it is told.
 */
#ifndef SIMULATE_WORLD_H
#define SIMULATE_WORLD_H
#include <stdbool.h>
#include <stdint.h>

#include "front.h"
#include "hub.h"
#include "observer.h"

enum { HUBS = 1, PEOPLE = 2, REQUESTS_MAX = 16 };

struct client {          /* the end of a cable that an agent or a person has */
    struct cable *cable; /* NULL: not connected */
    bool is_greeted;
    int next_id;
};

/* How an agent's front behaves. */
enum front_kind {
    FRONT_STDIO,
    FRONT_COMMAND,
    FRONT_POLLING,
    FRONT_MODERN,
    FRONT_LEGACY,
    FRONT_MCP,
    FRONTS
};
struct agent {
    struct client client;
    int number, principal, last_call;
    enum front_kind front;
    struct agent_request requests[REQUESTS_MAX];
    bool has_asked[CALLS];    /* on this connection */
    char state[CALLS][600];   /* to come back with; "": none */
    int era;                  /* of the client behind its front */
    char shown[ID_CHARS + 1]; /* the form its client shows; "": none */
    char form_value[16];
    struct front *mcp; /* the process through which it speaks; NULL: it speaks the wire itself */
    bool has_result;   /* that process has brought one */
    struct ask_seen *expected[CALLS]; /* the results that its last calls must bring; NULL: none */
};
struct person_request {
    int id;
    const char *method;
    struct act_seen *act;
    struct ask_seen *ask;
    int64_t ms, sent_ms;
    long sent_at;
};
struct person {
    struct client client;
    int number;
    struct person_request requests[REQUESTS_MAX];
};

struct world {
    uint64_t seed, first_seed;
    struct agent agents[AGENTS_MAX];
    size_t agent_count;
    struct person people[PEOPLE];
    long step;
    int nonce;
    unsigned drafts, deaths;
    long hub_ended_at; /* the step in which a hub was last killed or stopped */
    bool is_power_cut; /* of the death that is on its way */
    long closing_at;   /* the step in which the last questions begin; 0: not yet */
    uint64_t spoken;   /* a hash of every byte that went by */
    bool is_rehearsal; /* its agents are not those of any history */
    bool is_told;      /* print each step */
};
extern struct world world;

void world_take_line(struct agent *agent, const char *line, size_t length);
void world_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

void world_prepare(const char *directory); /* once */
/* Runs one; true: no promise was broken. `steps` before the last questions. */
bool world_run(uint64_t seed, long steps, bool is_told);

/* client.c */
bool client_connect(struct client *client, int64_t pid, const char *who, const char *hello);
void client_drop(struct client *client, const char *who);
int client_send(struct client *client, const char *who, const char *method, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* agent.c, person.c: one thing it may do now, drawn from the seed. */
int64_t agent_timeout_s(int principal, int call);
void agent_begin(struct agent *agent, int number);
void agents_prepare(void); /* once */
bool agent_act(struct agent *agent);
bool agent_move(struct agent *agent); /* its front does something, or it reads from it */
void agent_take(struct agent *agent, const char *line, const struct json *json);
void agent_lose(struct agent *agent);    /* its connection ended */
void agent_end(struct agent *agent);     /* its process ends, its client reads what is left */
void agent_ask_all(struct agent *agent); /* at the end: what became of each of its asks */
void agent_check_all(const struct agent *agent); /* then: its front has brought what it owes */
void person_begin(struct person *person, int number);
bool person_act(struct person *person);
void person_take(struct person *person, const struct json *json);
void person_lose(struct person *person);
void person_list(struct person *person, bool is_last);

#endif
