/* far_hub.c - see far_hub.h. */
#include "wire/far_hub.h"

#include <stddef.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "net/tunnel.h"
#include "wire/finder.h"

static struct tunnel_target chosen;

static int begin(int *ret_fd, struct error *err)
{
    return tunnel_begin(&chosen, ret_fd, err);
}

bool far_hub_choose(const char *url, const char *token_file, const char *ca_file, struct error *err)
{
    chosen = (struct tunnel_target){ url, token_file, ca_file };
    finder_use_remote(begin);
    return tunnel_check(&chosen, err);
}

static const char *chosen_socket;

void far_hub_choose_socket(const char *path)
{
    chosen_socket = path;
    finder_use_socket(path);
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
    struct os_daemon_words words = { 0 };
    enum os_daemon state = OS_DAEMON_STARTING;
    int fd = -1, ready_fd = begin(&fd, err);

    *ret_is_final = false;
    while (ready_fd >= 0 && state == OS_DAEMON_STARTING)
        state = os_hear_daemon(ready_fd, &words);
    if (ready_fd >= 0)
        close(ready_fd);
    if (state == OS_DAEMON_READY || ready_fd < 0)
        return fd;
    close(fd);
    os_read_why(&words, err);
    *ret_is_final = words.bytes[0] == OS_DAEMON_SAYS_WHY;
    return -1;
}
