/* preferences.c - settings over the desk: all with their sources, and changing one (R8.1). */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/acts.h"
#include "engine/inside.h"
#include "engine/waits.h"
#include "i18n/i18n.h"

void settings_list_method(struct engine *engine, struct visit *visit, const struct json *params,
                          desk_done *done, void *context)
{
    struct errand *errand = errand_new(sizeof *errand, engine, visit, done, context);
    const char *name = json_member_text(params, "name");
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    enum setting_id wanted;

    if (name && !setting_find(name, &wanted)) {
        errand_say(errand, ERROR_bad_enum, "/name", TEXT_REASON_NO_SETTING, NULL);
        return;
    }
    settings_write_list(engine->parts.settings, name, &writer);
    errand_ok(errand, text_string(&out));
    text_release(&out);
}

struct preference {
    struct errand errand; /* first */
    enum setting_id id;
    char *text; /* NULL: back to the built-in value */
};

static void preference_drop(struct errand *errand)
{
    free(((struct preference *)errand)->text);
}

static void tell_watchers(const struct engine *engine, enum setting_id id)
{
    struct text line = { 0 };
    struct json_writer writer = json_writer_to(&line);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "jsonrpc", "2.0");
    json_write_text(&writer, "method", "settings/changed");
    json_write_object(&writer, "params");
    json_write_list(&writer, "settings");
    settings_write_row(engine->parts.settings, id, false, &writer);
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    for (struct visit *visit = engine->visits; visit; visit = visit->next) {
        if (visit->is_watching || visit->attached[0])
            visit_tell(visit, line.bytes, line.used);
    }
    text_release(&line);
}

static void set_log_level(struct engine *engine)
{
    log_set_level((enum log_level)settings_integer(engine->parts.settings, SETTING_LOG_LEVEL));
}

/* Most settings are looked up where they count; these have to be told. */
static const struct {
    enum setting_id id;
    void (*act)(struct engine *engine);
} consequences[] = {
    { SETTING_LOG_LEVEL, set_log_level },
    { SETTING_REMIND_MINUTES, announce_retime },
    { SETTING_RETENTION_DAYS, sweep_soon },
    { SETTING_MAX_SESSIONS, sweep_soon },
};

struct reading {
    struct engine *engine;
    bool is_saved[SETTING_COUNT];
};

static void put_saved(void *context, const char *name, const char *value)
{
    struct reading *reading = context;
    enum setting_id id;

    if (!settings_put_saved(reading->engine->parts.settings, name, value))
        log_warning("settings.ignored", "setting=%s", setting_find(name, &id) ? name : "");
    if (setting_find(name, &id))
        reading->is_saved[id] = true;
}

void preferences_load(struct engine *engine)
{
    struct store *store = engine->parts.store;
    struct reading reading = { .engine = engine };
    int64_t before[ARRAY_LEN(consequences)];

    for (size_t i = 0; i < ARRAY_LEN(consequences); i++)
        before[i] = engine_setting(engine, consequences[i].id);
    store->ops->list_settings(store, engine->parts.person, put_saved, &reading);
    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting_row *row = setting_row((enum setting_id)id);

        if (row->scope != SETTING_SCOPE_HOST && !reading.is_saved[id])
            settings_put_saved(engine->parts.settings, row->name, NULL);
        if (row->scope != SETTING_SCOPE_HOST)
            tell_watchers(engine, (enum setting_id)id);
    }
    for (size_t i = 0; i < ARRAY_LEN(consequences); i++) {
        if (engine_setting(engine, consequences[i].id) != before[i])
            consequences[i].act(engine);
    }
}

static void put_and_reply(struct preference *preference)
{
    struct engine *engine = preference->errand.engine;
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    settings_put_saved(engine->parts.settings, setting_row(preference->id)->name, preference->text);
    for (size_t i = 0; i < ARRAY_LEN(consequences); i++) {
        if (consequences[i].id == preference->id)
            consequences[i].act(engine);
    }
    tell_watchers(engine, preference->id);
    settings_write_row(engine->parts.settings, preference->id, false, &writer);
    errand_ok(&preference->errand, text_string(&out));
    text_release(&out);
}

static void on_saved(void *context, const struct store_reply *reply)
{
    struct preference *preference = context;

    if (reply->outcome == STORE_FAILED)
        errand_fail(&preference->errand, &reply->err, NULL);
    else
        put_and_reply(preference);
}

/* What can't be kept is not active either: the file is changed before what was read of it. */
static void save_host(struct preference *preference)
{
    struct engine *engine = preference->errand.engine;
    const char *path = engine->parts.settings_path;
    struct error err;

    if (path && !settings_save(path, preference->id, preference->text, &err)) {
        log_warning("settings.not_saved", "setting=%s reason=%s", setting_row(preference->id)->name,
                    error_name(err.code));
        errand_fail(&preference->errand, &err, NULL);
        return;
    }
    if (preference->id == SETTING_HOLD_LIMITS) /* a person who sets limits knows better */
        patience_forget(engine, on_saved, &preference->errand);
    else
        put_and_reply(preference);
}

void settings_set_method(struct engine *engine, struct visit *visit, const struct json *params,
                         desk_done *done, void *context)
{
    const char *name = json_member_text(params, "name");
    struct setting_value value = { 0 };
    struct preference *preference;
    struct error err;

    preference = errand_new(sizeof *preference, engine, visit, done, context);
    preference->errand.drop = preference_drop;
    preference->text = mem_text(json_member_text(params, "value"));
    if (!name || !setting_find(name, &preference->id)) {
        errand_say(&preference->errand, ERROR_bad_enum, "/name", TEXT_REASON_NO_SETTING, NULL);
        return;
    }
    if (json_kind(json_member(params, "value")) != KIND_NULL && !preference->text) {
        errand_say(&preference->errand, ERROR_bad_type, "/value", TEXT_REASON_SETTING_TEXT, NULL);
        return;
    }
    if (preference->text && !settings_parse(preference->id, preference->text, &value, &err)) {
        errand_fail(&preference->errand, &err, NULL);
        return;
    }
    setting_value_release(&value);
    if (setting_row(preference->id)->scope == SETTING_SCOPE_HOST) {
        save_host(preference);
        return;
    }
    errand_begin_write(&preference->errand);
    store_write_setting(engine->parts.store,
                        &(struct store_setting){ engine->parts.person, name, preference->text },
                        on_saved, preference);
}
