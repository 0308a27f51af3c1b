/* preferences.c - what a person set: preferences, and options that are hidden. */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/fields/form.h"
#include "engine/delivery/delivery.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* Settings as methods: all with their sources, and changing one (R8.1). */

void settings_list_method(struct method_call call)
{
    struct operation *operation = operation_new(sizeof *operation, call);
    const char *name = json_member_text(call.params, "name");
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    enum setting_id wanted;

    if (name && !setting_find(name, &wanted)) {
        operation_say(operation, ERROR_bad_enum, "/name", TEXT_REASON_NO_SETTING, NULL);
        return;
    }
    settings_write_list(call.engine->parts.settings, name, &writer);
    operation_ok_take(operation, &out);
}

struct preference {
    struct operation operation; /* first; its text is the value; NULL: back to the built-in one */
    enum setting_id id;
};

static void tell_watchers(const struct engine *engine, enum setting_id id)
{
    struct text line = { 0 };
    struct json_writer writer = event_begin(&line, "settings/changed");

    json_write_list(&writer, "settings");
    settings_write_row(engine->parts.settings, id, false, &writer);
    json_write_end_list(&writer);
    event_end(&writer);
    for (struct session *session = engine->sessions; session; session = session->next) {
        if (session->is_watching || session->attached[0])
            session_send(session, line.bytes, line.used);
    }
    text_release(&line);
}

static void set_log_level(struct engine *engine)
{
    log_set_level((enum log_level)engine_setting(engine, SETTING_LOG_LEVEL));
}

/* Most settings are looked up where they count; these have to be told. */
static const struct {
    enum setting_id id;
    void (*act)(struct engine *engine);
} consequences[] = {
    { SETTING_LOG_LEVEL, set_log_level },
    { SETTING_REMIND_MINUTES, announce_reschedule },
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
    struct engine *engine = preference->operation.engine;
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    settings_put_saved(engine->parts.settings, setting_row(preference->id)->name,
                       preference->operation.text);
    for (size_t i = 0; i < ARRAY_LEN(consequences); i++) {
        if (consequences[i].id == preference->id)
            consequences[i].act(engine);
    }
    tell_watchers(engine, preference->id);
    settings_write_row(engine->parts.settings, preference->id, false, &writer);
    operation_ok_take(&preference->operation, &out);
}

static void on_saved(void *context, const struct store_reply *reply)
{
    if (!operation_fails(context, reply))
        put_and_reply(context);
}

/* What can't be kept is not active either: the file is changed before what was read of it. */
static void save_host(struct preference *preference)
{
    struct engine *engine = preference->operation.engine;
    const char *path = engine->parts.settings_path;
    struct error err;

    if (path && !settings_save(path, preference->id, preference->operation.text, &err)) {
        log_warning("settings.not_saved", "setting=%s reason=%s", setting_row(preference->id)->name,
                    error_name(err.code));
        operation_fail(&preference->operation, &err, NULL);
        return;
    }
    if (preference->id == SETTING_HOLD_LIMITS) /* a person who sets limits knows better */
        client_timeout_forget(engine, on_saved, &preference->operation);
    else
        put_and_reply(preference);
}

void settings_set_method(struct method_call call)
{
    const char *name = json_member_text(call.params, "name");
    struct setting_value value = { 0 };
    struct preference *preference = operation_new(sizeof *preference, call);
    struct error err;

    preference->operation.text = mem_text(json_member_text(call.params, "value"));
    if (!name || !setting_find(name, &preference->id)) {
        operation_say(&preference->operation, ERROR_bad_enum, "/name", TEXT_REASON_NO_SETTING,
                      NULL);
        return;
    }
    if (json_kind(json_member(call.params, "value")) != KIND_NULL && !preference->operation.text) {
        operation_say(&preference->operation, ERROR_bad_type, "/value", TEXT_REASON_SETTING_TEXT,
                      NULL);
        return;
    }
    if (preference->operation.text &&
        !settings_parse(preference->id, preference->operation.text, &value, &err)) {
        operation_fail(&preference->operation, &err, NULL);
        return;
    }
    setting_value_release(&value);
    if (setting_row(preference->id)->scope == SETTING_SCOPE_HOST) {
        save_host(preference);
        return;
    }
    operation_begin_write(&preference->operation);
    store_write_setting(
        call.engine->parts.store,
        &(struct store_setting){ call.engine->parts.person, name, preference->operation.text },
        on_saved, preference);
}

/* Options a person does not want to see again, remembered by principal, title and option (R6.4).
 * What is kept are short hashes, so that nothing an agent wrote is kept longer than its ask; all
 * of them are one fact of the store. */

static const char fact_name[] = "hidden_options";

static void name_option(const struct ask *ask, const char *option_id, char out[HIDDEN_BYTES])
{
    struct hash_part parts[] = {
        { ask->principal, strlen(ask->principal) },
        { ask->title, strlen(ask->title) },
        { option_id, strlen(option_id) },
    };
    uint8_t hash[HASH_BYTES];

    hash_parts(parts, ARRAY_LEN(parts), hash);
    hash_hex(hash, (HIDDEN_BYTES - 1) / 2, out);
}

static size_t find_name(const struct engine *engine, const char *name)
{
    size_t at = 0;

    while (at < engine->hidden_count && strcmp(engine->hidden[at], name) != 0)
        at++;
    return at;
}

static bool is_hidden(const struct engine *engine, const struct ask *ask, const char *option_id)
{
    char name[HIDDEN_BYTES];

    name_option(ask, option_id, name);
    return find_name(engine, name) < engine->hidden_count;
}

void hidden_write(const struct engine *engine, const struct ask *ask, struct json_writer *writer)
{
    struct form form = { 0 };

    if (engine->hidden_count == 0 || (ask->flags & ASK_DESTRUCTIVE) || !ask->form_json ||
        !form_parse(ask->form_json, strlen(ask->form_json), &form, NULL))
        return;
    json_write_list(writer, "hidden");
    for (size_t i = 0; i < form.fields[0].option_count; i++) {
        if (is_hidden(engine, ask, form.fields[0].options[i].id))
            json_write_text(writer, NULL, form.fields[0].options[i].id);
    }
    json_write_end_list(writer);
    form_release(&form);
}

void hidden_load(struct engine *engine)
{
    const char *at = engine->parts.store->ops->meta(engine->parts.store, fact_name);

    if (!engine->hidden)
        engine->hidden = mem_new(HIDDEN_KEPT * sizeof *engine->hidden);
    engine->hidden_count = 0;
    for (; engine->hidden_count < HIDDEN_KEPT && strlen(at) >= HIDDEN_BYTES - 1;
         at += HIDDEN_BYTES - 1)
        text_head(at, HIDDEN_BYTES - 1, engine->hidden[engine->hidden_count++]);
}

void hidden_release(struct engine *engine)
{
    free(engine->hidden);
}

struct hiding {
    struct operation operation; /* first; its text is the option's id */
    bool hides;
};

static void on_hidden_saved(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (reply->outcome == STORE_FAILED)
        hidden_load(operation->engine); /* what is not kept did not happen */
    operation_saved(operation, reply);
}

static void put(struct hiding *hiding, const struct ask *ask)
{
    struct engine *engine = hiding->operation.engine;
    char name[HIDDEN_BYTES];
    struct text fact = { 0 };
    size_t at;

    name_option(ask, hiding->operation.text, name);
    at = find_name(engine, name);
    if (at < engine->hidden_count) { /* the newest are kept longest */
        engine->hidden_count--;
        memmove(engine->hidden + at, engine->hidden + at + 1,
                (engine->hidden_count - at) * sizeof *engine->hidden);
    }
    if (hiding->hides) {
        if (engine->hidden_count == HIDDEN_KEPT)
            memmove(engine->hidden, engine->hidden + 1,
                    --engine->hidden_count * sizeof *engine->hidden);
        memcpy(engine->hidden[engine->hidden_count++], name, sizeof name);
    }
    for (size_t i = 0; i < engine->hidden_count; i++)
        text_add_text(&fact, engine->hidden[i]);
    operation_begin_write(&hiding->operation);
    store_write_meta(engine->parts.store, &(struct store_meta){ fact_name, text_string(&fact) },
                     on_hidden_saved, hiding);
    text_release(&fact);
}

/* Never so many that what is left cannot be an answer. */
static bool may_hide(const struct hiding *hiding, const struct ask *ask, const struct form *form,
                     struct error *err)
{
    const struct field *field = &form->fields[0];
    int64_t left = 0, min = field->min_selections > 1 ? field->min_selections : 1;

    if (form_may_destroy(form))
        return error_say(err, ERROR_wrong_state, "/session_id", TEXT_REASON_NEVER_HIDDEN, NULL);
    if (!field_find_option(field, hiding->operation.text))
        return error_say(err, ERROR_bad_enum, "/option_id", TEXT_REASON_NO_SUCH_OPTION, NULL);
    for (size_t i = 0; i < field->option_count; i++) {
        const char *id = field->options[i].id;

        left += strcmp(id, hiding->operation.text) != 0 &&
                !is_hidden(hiding->operation.engine, ask, id);
    }
    if (hiding->hides && left < min)
        return error_say(err, ERROR_out_of_range, "/option_id", TEXT_REASON_MUST_BE_LEFT, "count",
                         TEXT_NUMBER(min), NULL);
    return true;
}

static void on_got(void *context, const struct store_reply *reply)
{
    struct hiding *hiding = context;
    struct form form = { 0 };
    struct error err;

    if (reply->outcome != STORE_DONE) {
        operation_not_found(&hiding->operation, reply);
        return;
    }
    if (form_parse(reply->row->ask.form_json, strlen(reply->row->ask.form_json), &form, &err) &&
        may_hide(hiding, &reply->row->ask, &form, &err))
        put(hiding, &reply->row->ask);
    else
        operation_fail(&hiding->operation, &err, NULL);
    form_release(&form);
}

static void hide_found(struct operation *operation)
{
    operation_get(operation, on_got);
}

void ask_hide_method(struct method_call call)
{
    const char *option_id = json_member_text(call.params, "option_id");
    struct hiding *hiding = operation_new(sizeof *hiding, call);

    hiding->hides = json_is_true(json_member(call.params, "hidden"));
    if (!option_id || json_kind(json_member(call.params, "hidden")) != KIND_BOOL) {
        operation_say(&hiding->operation, ERROR_missing_property,
                      option_id ? "/hidden" : "/option_id", TEXT_REASON_HIDE_NEEDS, NULL);
        return;
    }
    hiding->operation.text = mem_text(option_id);
    operation_find_ask(&hiding->operation, call.params, hide_found);
}
