/* webhook_secret.c - see webhook_secret.h. */
#include "hub/webhook_secret.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "crypto/webhook.h"
#include "wire/place.h"

enum { SECRET_FILE_BYTES = 512 };

bool webhook_secret_get(const struct place *place, struct text *out, struct error *err)
{
    const char *end = strrchr(place->settings, '/');
    char folder[PLACE_PATH_BYTES], path[PLACE_PATH_BYTES];

    snprintf(folder, sizeof folder, "%.*s", end ? (int)(end - place->settings) : 0,
             place->settings);
    if (snprintf(path, sizeof path, "%s/webhook.secret", folder) >= PLACE_PATH_BYTES)
        return error_set(err, ERROR_unavailable, "", "the path of the settings is too long");
    if (os_read_file(path, SECRET_FILE_BYTES, out, err)) {
        out->used = strcspn(text_string(out), "\r\n");
        out->bytes[out->used] = '\0';
        return true;
    }
    if (access(path, F_OK) == 0)
        return false; /* there is one, and it can't be read */
    webhook_make_secret(out);
    text_add_char(out, '\n');
    if (!os_private_directory(folder, err) || !os_write_file(path, out->bytes, out->used, err))
        return false;
    out->bytes[--out->used] = '\0';
    return true;
}
