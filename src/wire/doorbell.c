/* doorbell.c - see doorbell.h. */
#include "wire/doorbell.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "loop/loop.h"
#include "wire/place.h"

enum { DOORBELL_LIMIT_MS = 3000, DOORBELL_LOOK_NS = 5000000 };

/* The manager's hub lives in the usual place: who was given another one has nothing to ask there.
 */
static bool is_usual_place(const struct place *place)
{
    char home[PLACE_PATH_BYTES], usual[PLACE_PATH_BYTES + 32];

    if (!os_home(home, sizeof home))
        return false;
    snprintf(usual, sizeof usual, "%s/.local/share/sayso", home);
    return strcmp(usual, place->data) == 0;
}

static int ring(const struct place *place)
{
    char directory[PLACE_PATH_BYTES], path[PLACE_PATH_BYTES + 32];
    struct error err;

    if (!is_usual_place(place) || !place_socket_name(place, directory, path, &err) ||
        snprintf(path, sizeof path, "%s/%s", directory, PLACE_ACTIVATION_NAME) > PLACE_SOCKET_BYTES)
        return -1;
    return place_connect(path, SOCK_NONBLOCK);
}

/* The hub that was started for us could not begin, or found another one at work. */
static bool is_turned_away(int fd)
{
    struct pollfd line = { .fd = fd, .events = POLLIN };

    return poll(&line, 1, 0) > 0 && (line.revents & (POLLHUP | POLLERR));
}

/* Having the lock it may still find that it can't begin. */
static bool has_begun(const struct place *place)
{
    struct place_note note;
    struct os_process process;

    return os_is_locked(place->lock) && place_read_note(place, &note, NULL) &&
           os_process(note.pid, &process) && process.start == note.start;
}

bool doorbell_ring(const struct place *place)
{
    const struct timespec pause = { .tv_nsec = DOORBELL_LOOK_NS };
    int64_t until_ms = loop_boot_ms() + DOORBELL_LIMIT_MS;
    int fd = ring(place);

    if (fd < 0)
        return false;
    while (!has_begun(place) && !is_turned_away(fd) && loop_boot_ms() < until_ms)
        nanosleep(&pause, NULL);
    close(fd);
    return os_is_locked(place->lock);
}
