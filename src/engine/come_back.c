/*
 * come_back.c - the state with which a client comes back for an ask that it cannot wait for any
 * longer (R5.7), or shows itself (R4.2): which ask, and the how manieth time. It is sealed for its
 * principal and for the very same call, so a state that opens names an ask of the one who brings it
 * (B6). Source: MCP 2026-07-28, basic/patterns/mrtr.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/known_clients.h"
#include "core/limits.h"
#include "crypto/hash.h"
#include "engine/waits.h"

/* Clients give a call up after ten rounds, and some count the first call as one. */
enum { COME_BACK_ROUNDS = 8 };

static const char purpose[] = "come_back";

/* Some put a long call aside and take its answer for hearsay, in however many rounds it came. */
bool come_back_may(const struct engine *engine, const struct visit *visit, int round)
{
    int64_t wish = settings_integer(engine->parts.settings, SETTING_COME_BACK);

    if (round > COME_BACK_ROUNDS)
        return false;
    if (wish == COME_BACK_AUTO)
        return !known_client(visit->name)->backgrounds_calls;
    return wish == COME_BACK_ON;
}

bool come_back_seal(struct engine *engine, const uint8_t call_match[MATCH_BYTES], const char *id,
                    const struct round *round, struct text *out)
{
    const struct hash_part bound[] = {
        { purpose, strlen(purpose) },
        { call_match, MATCH_BYTES },
    };
    char *payload = mem_format("%s%d %d %d %lld", id, round->number, round->is_bad, round->is_url,
                               (long long)round->asked_ms);
    bool is_sealed =
        engine_seal(engine, bound, ARRAY_LEN(bound), (int64_t)LIMIT_TIMEOUT_S * 1000, payload, out);

    free(payload);
    return is_sealed;
}

bool come_back_open(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                    const char *sealed, char *ret_id, struct round *ret_round)
{
    const struct hash_part bound[] = {
        { purpose, strlen(purpose) },
        { call_match, MATCH_BYTES },
    };
    struct text payload = { 0 };
    bool is_open =
        engine_unseal(engine, bound, ARRAY_LEN(bound), sealed, strlen(sealed), &payload) &&
        payload.used > LIMIT_ID_CHARS;

    if (is_open) {
        char *rest = payload.bytes + LIMIT_ID_CHARS;

        memcpy(ret_id, payload.bytes, LIMIT_ID_CHARS);
        ret_id[LIMIT_ID_CHARS] = '\0';
        ret_round->number = (int)strtol(rest, &rest, 10);
        ret_round->is_bad = strtol(rest, &rest, 10) != 0;
        ret_round->is_url = strtol(rest, &rest, 10) != 0;
        ret_round->asked_ms = strtoll(rest, &rest, 10);
    }
    text_release(&payload);
    return is_open;
}
