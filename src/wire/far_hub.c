/* far_hub.c - see far_hub.h. */
#include "wire/far_hub.h"

#include <stddef.h>

#include "net/tunnel.h"

static struct tunnel_target chosen;

bool far_hub_choose(const char *url, const char *token_file, const char *ca_file, struct error *err)
{
    chosen = (struct tunnel_target){ url, token_file, ca_file };
    return tunnel_check(&chosen, err);
}

static const char *chosen_socket;

void far_hub_choose_socket(const char *path)
{
    chosen_socket = path;
}

const char *far_hub_socket(void)
{
    return chosen_socket;
}

bool far_hub_is_chosen(void)
{
    return chosen.url != NULL;
}

int far_hub_connect(bool *ret_is_final, struct error *err)
{
    int fd = -1;

    *ret_is_final = tunnel_open(&chosen, &fd, err) == TUNNEL_REFUSED;
    return fd;
}
