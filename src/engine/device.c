/*
 * device.c - browsers that stay signed in (R12.2). A device has no secret: its browser keeps a key
 * that no page can read, and signs what the hub challenges it with. The key counts at the port
 * where it was enrolled. Another user of this machine could hold that port while no hub runs and be
 * given the same use of the key, so unless a setting says otherwise there must be no other user.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "core/sole_user.h"
#include "crypto/signature.h"
#include "engine/engine.h"
#include "engine/inside.h"
#include "engine/tokens.h"

enum { ACCOUNTS_BYTES = 1048576, SIGNED_BYTES = 128 };

bool device_may_stay(const struct engine *engine)
{
    static const char *const paths[] = { "/etc/login.defs", "/etc/nsswitch.conf", "/etc/passwd" };
    int64_t wish = settings_integer(engine->parts.settings, SETTING_KEEP_SIGNED_IN);
    struct text files[ARRAY_LEN(paths)] = { 0 };
    bool may = wish == KEEP_SIGNED_IN_AUTO;

    for (size_t i = 0; may && i < ARRAY_LEN(paths); i++)
        may = os_read_file(paths[i], ACCOUNTS_BYTES, &files[i], NULL);
    may =
        may && sole_user_is(&(struct account_files){ text_string(&files[0]), text_string(&files[1]),
                                                     text_string(&files[2]) },
                            engine->parts.uid);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        text_release(&files[i]);
    return may || wish == KEEP_SIGNED_IN_ON;
}

bool engine_know_device(struct engine *engine, const struct desk_device *shown,
                        struct engine_token *ret_token)
{
    static const char form[] = "sayso browser %d %s"; /* not for people */
    struct token *token = token_find_id(engine, shown->id);
    char text[SIGNED_BYTES], port[16];
    size_t length = (size_t)snprintf(port, sizeof port, "%d ", shown->port);

    snprintf(text, sizeof text, form, shown->port, shown->challenge);
    if (!token || !token->browser || strncmp(token->browser, port, length) != 0 ||
        !device_may_stay(engine) ||
        !signature_is_good(token->browser + length, shown->signature, text))
        return false;
    token_use(engine, token);
    *ret_token = (struct engine_token){ .kind = token->kind, .label = token->label };
    memcpy(ret_token->id, token->id, sizeof ret_token->id);
    return true;
}
