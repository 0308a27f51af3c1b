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

enum { LOCATION_PATH_BYTES = 1024, LOCATION_SOCKET_BYTES = 100 };

struct location {
    char data[LOCATION_PATH_BYTES];     /* XDG_DATA_HOME/sayso */
    char settings[LOCATION_PATH_BYTES]; /* XDG_CONFIG_HOME/sayso/settings.json */
    char database[LOCATION_PATH_BYTES];
    char lock[LOCATION_PATH_BYTES];
    char record[LOCATION_PATH_BYTES];
    char log[LOCATION_PATH_BYTES];
};
/* Only names; touches nothing. */
bool location_find(struct location *ret_location, struct error *err);
bool location_settings(char path[LOCATION_PATH_BYTES], struct error *err); /* that name alone */
/* Makes the private directories; refuses network file systems. */
bool location_prepare(const struct location *location, struct error *err);
/* Where the hub puts its socket: the runtime directory, else below the data directory. */
bool location_socket(const struct location *location, char *out, struct error *err);
/* The same without making or refusing anything. */
bool location_socket_name(const struct location *location, char directory[LOCATION_PATH_BYTES],
                          char path[LOCATION_PATH_BYTES + 32], struct error *err);
bool location_is_own_socket(const char *path);
int location_connect(const char *path); /* a stream to the socket there; -1: nothing listens */

struct hub_record {
    int64_t pid;
    uint64_t start; /* of that process */
    int wire;
    int port; /* of HTTP; 0: none */
    char version[32];
    char socket[LOCATION_SOCKET_BYTES + 1];
};
bool hub_record_write(const struct location *location, const struct hub_record *record,
                      struct error *err);
/* False: none that can be read. `err` may be NULL; storage_failed is for who may run out of memory.
 */
bool hub_record_read(const struct location *location, struct hub_record *ret_record,
                     struct error *err);

/* The socket, in the runtime directory, on which a service manager listens for a hub. */
#define LOCATION_ACTIVATION_NAME "hub.sock"

#endif
