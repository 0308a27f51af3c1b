/*
 * location.h - where a user's hub lives: directories, lock, socket, and the note (hub.json) in
 * which the hub that holds the lock says how to reach it. Clients read the note and never compute
 * the socket, because agents' clients strip the environment.
 */
#ifndef RPC_LOCATION_H
#define RPC_LOCATION_H
#include <stdbool.h>
#include <stdint.h>

struct error;

enum { PLACE_PATH_BYTES = 1024, PLACE_SOCKET_BYTES = 100 };

struct place {
    char data[PLACE_PATH_BYTES];     /* XDG_DATA_HOME/sayso */
    char settings[PLACE_PATH_BYTES]; /* XDG_CONFIG_HOME/sayso/settings.json */
    char database[PLACE_PATH_BYTES];
    char lock[PLACE_PATH_BYTES];
    char note[PLACE_PATH_BYTES];
    char log[PLACE_PATH_BYTES];
};
/* Only names; touches nothing. */
bool place_find(struct place *ret_place, struct error *err);
/* Makes the private directories; refuses network file systems. */
bool place_prepare(const struct place *place, struct error *err);
/* Where the hub puts its socket: the runtime directory, else below the data directory. */
bool place_socket(const struct place *place, char *out, struct error *err);
/* The same without making or refusing anything. */
bool place_socket_name(const struct place *place, char directory[PLACE_PATH_BYTES],
                       char path[PLACE_PATH_BYTES + 32], struct error *err);
uint32_t place_hash(const char *text); /* a short one, for what nobody chooses to collide */
int place_connect(const char *path);   /* a stream to the socket there; -1: nobody listens */

struct place_note {
    int64_t pid;
    uint64_t start; /* of that process */
    int wire;
    int port; /* of HTTP; 0: none */
    char version[32];
    char socket[PLACE_SOCKET_BYTES + 1];
};
bool place_write_note(const struct place *place, const struct place_note *note, struct error *err);
/* False: none that can be read. `err` may be NULL; storage_failed is for who may run out of memory.
 */
bool place_read_note(const struct place *place, struct place_note *ret_note, struct error *err);

/* The socket, in the runtime directory, on which a service manager listens for a hub. */
#define PLACE_ACTIVATION_NAME "hub.sock"

#endif
