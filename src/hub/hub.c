#include "hub/hub.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "engine/engine.h"
#include "hub/listener.h"
#include "i18n/i18n.h"
#include "notify/notify.h"
#include "rpc/location.h"
#include "rpc/protocol.h"
#include "rpc/server.h"
#include "settings/settings.h"
#include "store/postgres/postgres.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

struct hub {
    struct clock clock; /* first: the engine's clock is a hub */
    const struct hub_options *options;
    struct location location;
    struct hub_record record;
    struct loop *loop;
    struct store *store;
    struct text store_name; /* the one that is open, whatever the setting says by now */
    struct engine *engine;
    struct rpc_server *server;
    struct listener *listener; /* NULL: no port could be had */
    struct notify *notify;
    struct loop_timer *time_timer;  /* the engine's next moment */
    struct loop_timer *leave_timer; /* idle long enough, or draining too long */
    bool is_leaving, is_idle_armed;
    bool is_announced; /* balancers are told that we will go; nothing else has changed yet */
    bool is_turning, is_time_known;    /* the loop runs; in this turn the clock was read */
    int64_t turn_boot_ms, turn_utc_ms; /* then */
    const char *why;                   /* we leave */
    char person[128];
    char program[4096];
    int lock_fd;
    int passed_fd; /* listens for us at record.socket, by a service manager; -1: none */
};

/* How an answer that was taken may still be lost, as the server is set up: said once, where it can
 * be fixed. */
static void warn_of_losses(struct store *store)
{
    struct postgres_facts facts;

    postgres_store_facts(store, &facts);
    if (!facts.is_commit_kept)
        log_warning("store.commits_not_kept", "setting=synchronous_commit value=off "
                                              "risk=a_crash_of_the_server_loses_answers");
    if (!facts.has_standby)
        log_warning("store.no_standby", "setting=synchronous_standby_names "
                                        "risk=a_failover_loses_answers");
    if (facts.is_pooled)
        log_warning("store.pooled", "pooling=transaction others_are_seen_within_ms=2000");
}

static bool choose_store(struct loop *loop, const struct settings *settings,
                         const struct location *location, struct store **ret_store,
                         struct error *err)
{
    const char *store = settings_text(settings, SETTING_STORE);

    if (!store[0])
        return sqlite_store_open(loop, location->database, ret_store, err);
    if (!postgres_store_open(loop, store, ret_store, err))
        return false;
    warn_of_losses(*ret_store);
    return true;
}

/* What people are told of it: a path, or an address without its parameters. */
static void choose_store_name(const struct settings *settings, const struct location *location,
                              struct text *out)
{
    const char *store = settings_text(settings, SETTING_STORE);

    if (store[0])
        postgres_write_name(store, out); /* it may hold a password */
    else
        text_add_text(out, location->database);
}

/* A turn happens at one moment: it is short, and an ask would look at the clock twenty times. Hubs
 * that share a store go by its clock. */
static const struct hub *hub_at_its_time(struct clock *clock)
{
    struct hub *hub = (struct hub *)clock;
    struct store *store = hub->store;

    if (!hub->is_time_known) {
        hub->turn_boot_ms = loop_boot_ms();
        hub->turn_utc_ms = store && store->ops->utc_ms ? store->ops->utc_ms(store) : loop_utc_ms();
    }
    hub->is_time_known = hub->is_turning;
    return hub;
}

static int64_t hub_boot_ms(struct clock *clock)
{
    return hub_at_its_time(clock)->turn_boot_ms;
}

static int64_t hub_utc_ms(struct clock *clock)
{
    return hub_at_its_time(clock)->turn_utc_ms;
}

static void hub_wake_at(struct clock *clock, int64_t boot_ms)
{
    struct hub *hub = (struct hub *)clock;

    if (boot_ms < 0)
        loop_timer_stop(hub->time_timer);
    else
        loop_timer_at(hub->time_timer, boot_ms + clock->rounding_ms);
}

/* A turn of the loop happens at one moment. */
static const struct clock hub_clock = { hub_boot_ms, hub_utc_ms, hub_wake_at, 1 };

/*
 * When a hub goes: it was told to, its store is broken, or it was idle for a while.
 * What was accepted is answered first.
 */

static const int64_t HUB_DRAIN_LIMIT_MS = 5000; /* a peer that does not read is not waited for */

/* Once; what was accepted is answered. */
static void shutdown_begin(struct hub *hub, const char *why)
{
    if (hub->is_leaving)
        return;
    hub->is_leaving = true;
    os_tell_manager("STOPPING=1");
    log_info("hub.leaving", "why=%s open=%zu", why, engine_open_count(hub->engine));
    engine_check_clock(hub->engine);
    engine_leave(hub->engine);
    engine_save_drafts(hub->engine);
    rpc_server_drain(hub->server);
    listener_drain(hub->listener);
    hub->why = why;
    loop_timer_at(hub->leave_timer, loop_boot_ms() + HUB_DRAIN_LIMIT_MS);
}

static bool is_idle(const struct hub *hub)
{
    return engine_is_idle(hub->engine) && rpc_server_peer_count(hub->server) == 0 &&
           listener_peer_count(hub->listener) == 0;
}

static void shutdown_on_time(void *context)
{
    struct hub *hub = context;

    hub->is_idle_armed = false;
    if (hub->is_leaving) {
        /* What is still under way may be stored or not: it is not refused, its connection closes
         * without a reply. Peers of the socket are told why we go; that is no refusal either. */
        log_info("hub.undrained", "after_ms=%lld", (long long)HUB_DRAIN_LIMIT_MS);
        rpc_server_dismiss(hub->server, hub->why);
        loop_stop(hub->loop);
    } else if (hub->is_announced) {
        shutdown_begin(hub, "stop");
    } else if (is_idle(hub)) {
        shutdown_begin(hub, "idle");
    }
}

/* A hub that a front started exits when it was idle for a while. */
static void hub_watch_idleness(struct hub *hub)
{
    bool idle = is_idle(hub);
    int64_t wait_s = settings_integer(hub->options->settings, SETTING_IDLE_EXIT_SECONDS);

    if (!hub->options->leaves_when_idle || hub->is_leaving || hub->is_announced ||
        listener_public_url(hub->listener)[0])
        return;
    if (idle && !hub->is_idle_armed)
        loop_timer_at(hub->leave_timer, loop_boot_ms() + wait_s * 1000);
    else if (!idle && hub->is_idle_armed)
        loop_timer_stop(hub->leave_timer);
    hub->is_idle_armed = idle;
}

/* By the setting drain_seconds, then that. Those who send others here look every few seconds: they
 * are told first, and then given the time to have looked. A second signal, or one from a
 * keyboard, means: do not wait. */
static void shutdown_announce(struct hub *hub)
{
    int64_t drain_s = settings_integer(hub->options->settings, SETTING_DRAIN_SECONDS);
    char stopping[64];

    if (drain_s == 0 || hub->is_announced) {
        shutdown_begin(hub, "stop");
        return;
    }
    hub->is_announced = true;
    listener_announce(hub->listener);
    snprintf(stopping, sizeof stopping, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld",
             (long long)(drain_s * 1000 + 3 * HUB_DRAIN_LIMIT_MS) * 1000);
    os_tell_manager(stopping);
    log_info("hub.draining", "seconds=%lld", (long long)drain_s);
    loop_timer_at(hub->leave_timer, loop_boot_ms() + drain_s * 1000);
}

/* What a hub says of itself, to people and to those who start it. */

/* The portal is where HTTP is, unless it is switched off. */
static void write_address(const struct hub *hub, struct json_writer *writer)
{
    const struct settings *settings = hub->options->settings;
    char url[48];

    json_write_bool(writer, "portal",
                    hub->record.port != 0 && settings_is_on(settings, SETTING_PORTAL));
    if (hub->record.port == 0) {
        json_write_null(writer, "port");
        json_write_null(writer, "url");
        return;
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", hub->record.port);
    json_write_integer(writer, "port", hub->record.port);
    json_write_text(writer, "url", url);
    if (listener_public_url(hub->listener)[0])
        json_write_text(writer, "public_url", listener_public_url(hub->listener));
}

/* One JSON object. */
static void hub_write_status(void *context, struct text *out)
{
    struct hub *hub = context;
    struct json_writer writer = json_object_to(out);
    const char *aside = hub->store->ops->meta(hub->store, "recovered_from");

    json_write_bool(&writer, "running", true);
    json_write_integer(&writer, "pid", hub->record.pid);
    json_write_text(&writer, "version", SAYSO_VERSION);
    json_write_integer(&writer, "wire", rpc_number());
    json_write_text(&writer, "socket", hub->record.socket);
    write_address(hub, &writer);
    json_write_text(&writer, "store", text_string(&hub->store_name));
    json_write_text(&writer, "log", hub->options->leaves_when_idle ? hub->location.log : NULL);
    json_write_integer(&writer, "pending", (int64_t)engine_open_count(hub->engine));
    json_write_text_if(&writer, "recovered_from", aside);
    json_write_end_object(&writer);
}

static const int64_t HUB_LOAD_LIMIT_MS = 30000;
/* All that HTTP takes and all that the socket takes; 1,024 is usual, and too few for who is asked
 * by thousands. What is started from here, a browser, gets the usual number again. */
static const size_t HUB_FILES = 32768;

static void on_time(void *context)
{
    struct hub *hub = context;

    hub->is_time_known = false; /* what is due now would not be by the time the turn began */
    engine_on_time(hub->engine);
}

/* What was started is finished, what was accepted is answered, then we sleep or go. */
static void before_sleep(void *context)
{
    struct hub *hub = context;

    engine_flush(hub->engine);
    rpc_server_flush(hub->server);
    listener_flush(hub->listener);
    hub_watch_idleness(hub);
    if (hub->store->ops->is_broken(hub->store) && !hub->is_leaving) {
        log_error("store.broken", "action=restart");
        shutdown_begin(hub, "broken");
    }
    if (hub->is_leaving && engine_is_settled(hub->engine)) {
        rpc_server_dismiss(hub->server, hub->why);
        listener_dismiss(hub->listener, hub->why);
    }
    if (hub->is_leaving && rpc_server_is_drained(hub->server) && listener_is_drained(hub->listener))
        loop_stop(hub->loop);
    hub->is_time_known = false;
}

static void on_signal(void *context, int number)
{
    struct hub *hub = context;

    if (number == SIGHUP) {
        listener_reload(hub->listener);
    } else if (!hub->server) { /* it has not begun */
        hub->is_leaving = true;
        loop_stop(hub->loop);
    } else if (number == SIGTERM) {
        shutdown_announce(hub);
    } else {
        shutdown_begin(hub, "stop");
    }
}

static void on_shutdown(void *context, enum shutdown shut_down)
{
    shutdown_begin(context, shut_down == SHUTDOWN_RETIRE ? "retire" : "stop");
}

static void on_revoked(void *context, const uint8_t *hash)
{
    listener_cut(((struct hub *)context)->listener, hash);
}

static void on_session_state(void *context, const char *session, const char *what,
                             const char *value)
{
    listener_take_state(((struct hub *)context)->listener, session, what, value);
}

static bool open_browser(void *context, const char *link)
{
    static const char *const said[] = {
        [OS_BROWSER_OPENED] = "opened",
        [OS_BROWSER_REMOTE] = "ssh",
        [OS_BROWSER_CONTAINED] = "container",
        [OS_BROWSER_NONE] = "none",
    };

    enum os_browser outcome = os_open_browser(link);

    (void)context;
    if (link)
        log_info("browser", "outcome=%s", said[outcome]); /* never the link */
    return outcome == OS_BROWSER_OPENED;
}

static void announce_ask(void *context, const struct announcement *announcement)
{
    notify_tell(((struct hub *)context)->notify, announcement);
}

enum { SECRET_FILE_BYTES = 512 };

bool webhook_secret_get(const struct location *location, struct text *out, struct error *err)
{
    const char *end = strrchr(location->settings, '/');
    char folder[LOCATION_PATH_BYTES], path[LOCATION_PATH_BYTES];

    snprintf(folder, sizeof folder, "%.*s", end ? (int)(end - location->settings) : 0,
             location->settings);
    if (snprintf(path, sizeof path, "%s/webhook.secret", folder) >= LOCATION_PATH_BYTES)
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

static bool sign(void *context, const char *id, int64_t time_s, const char *body, size_t length,
                 struct text *out)
{
    struct text secret = { 0 };
    struct error err;
    bool ok = webhook_secret_get(&((struct hub *)context)->location, &secret, &err) &&
              webhook_sign(text_string(&secret), id, time_s, body, length, out);

    if (secret.bytes)
        explicit_bzero(secret.bytes, secret.used);
    text_release(&secret);
    return ok;
}

static void put_person_setting(void *context, const char *name, const char *value)
{
    settings_put_saved(context, name, value);
}

static void stop_if_loaded(void *context)
{
    struct hub *hub = context;

    if (engine_is_loaded(hub->engine))
        loop_stop(hub->loop);
}

static void stop_waiting(void *context)
{
    loop_stop(((struct hub *)context)->loop);
}

/* No client is served before all open asks are known; a store that is far away takes its time. */
static bool wait_until_loaded(struct hub *hub, struct error *err)
{
    struct loop_turn *turn;
    struct loop_timer *limit;

    if (engine_is_loaded(hub->engine))
        return true;
    turn = loop_turn_new(hub->loop, stop_if_loaded, hub);
    limit = loop_timer_new(hub->loop, stop_waiting, hub);
    loop_timer_at(limit, loop_boot_ms() + HUB_LOAD_LIMIT_MS);
    loop_run(hub->loop);
    loop_timer_free(limit);
    loop_turn_free(turn);
    if (hub->is_leaving)
        return error_set(err, ERROR_unavailable, "", "stopped before it began");
    return engine_is_loaded(hub->engine) ||
           error_set(err, ERROR_unavailable, "",
                     "the database does not answer: nothing can be read from it");
}

static bool open_parts(struct hub *hub, struct error *err)
{
    struct settings *settings = hub->options->settings;
    struct rpc_host host = { hub, hub_write_status, on_shutdown };
    struct engine_parts parts = {
        .clock = &hub->clock,
        .settings = settings,
        .person = hub->person,
        .uid = (int64_t)geteuid(),
        .settings_path = hub->location.settings,
        .portal_built = true,
        .terminal_built = true,
        .program = hub->program,
        .socket = hub->record.socket,
        .on_revoked = on_revoked,
        .open_browser = open_browser,
        .announce = announce_ask,
        .on_session_state = on_session_state,
        .context = hub,
    };
    const struct notify_parts notify = { .loop = hub->loop,
                                         .settings = settings,
                                         .program = hub->program,
                                         .sign = sign,
                                         .context = hub };
    /* A hub that a front started goes on without listening: its user can still change what is
     * wrong. One that was started by hand, or by a service manager, fails, so that its user learns
     * of it. */
    struct listener_parts listener = { .loop = hub->loop,
                                       .settings = settings,
                                       .context = hub,
                                       .write_status = hub_write_status,
                                       .must_listen = !hub->options->leaves_when_idle };

    if ((hub->passed_fd < 0 && !location_socket(&hub->location, hub->record.socket, err)) ||
        !choose_store(hub->loop, settings, &hub->location, &hub->store, err))
        return false;
    choose_store_name(settings, &hub->location, &hub->store_name);
    os_user_name(hub->person, sizeof hub->person);
    if (!os_own_program(hub->program, sizeof hub->program))
        snprintf(hub->program, sizeof hub->program, "sayso");
    hub->store->ops->list_settings(hub->store, hub->person, put_person_setting, settings);
    for (size_t i = 0; i < settings_warning_count(settings); i++)
        log_warning("settings.ignored", "setting=%s", settings_warning(settings, i)->setting);
    parts.store = hub->store;
    hub->time_timer = loop_timer_new(hub->loop, on_time, hub);
    hub->leave_timer = loop_timer_new(hub->loop, shutdown_on_time, hub);
    hub->notify = notify_new(&notify);
    hub->engine = engine_new(&parts);
    if (!wait_until_loaded(hub, err))
        return false;
    listener.engine = hub->engine;
    listener.store = hub->store;
    if (hub->options->features)
        listener.features = hub->options->features(hub->loop);
    if (!listener_open(&listener, &hub->listener, err))
        return false;
    hub->record.port = listener_port(hub->listener);
    return rpc_server_open(hub->loop, engine_service(hub->engine), hub->record.socket,
                           hub->passed_fd, &host, &hub->server, err);
}

static bool announce(struct hub *hub, struct error *err)
{
    struct os_process self;
    struct text status = { 0 }, link = { 0 };
    bool has_link;

    hub->record.pid = getpid();
    hub->record.wire = rpc_number();
    snprintf(hub->record.version, sizeof hub->record.version, "%s", SAYSO_VERSION);
    if (os_process(hub->record.pid, &self))
        hub->record.start = self.start;
    if (!hub_record_write(&hub->location, &hub->record, err))
        return false;
    os_tell_starter(NULL);
    os_tell_manager("READY=1");
    log_info("hub.ready", "pid=%lld port=%d open=%zu", (long long)hub->record.pid, hub->record.port,
             engine_open_count(hub->engine));
    if (hub->options->on_ready) {
        hub_write_status(hub, &status);
        has_link = engine_make_link(hub->engine, &link);
        hub->options->on_ready(hub->options->context, text_string(&status),
                               has_link ? text_string(&link) : NULL);
        text_release(&status);
        text_release(&link);
    }
    return true;
}

static void close_parts(struct hub *hub)
{
    rpc_server_free(hub->server);
    listener_free(hub->listener);
    if (hub->store)
        hub->store->ops->close(hub->store);
    text_release(&hub->store_name);
    engine_free(hub->engine);
    notify_free(hub->notify);
    loop_timer_free(hub->time_timer);
    loop_timer_free(hub->leave_timer);
}

/* Those who came by our socket find the other hub by its note. It is not theirs to be found as long
 * as they wait here, and a service manager would start us for them again and again. */
static void make_way(const struct hub *hub)
{
    struct hub_record record;
    bool is_same = hub_record_read(&hub->location, &record, NULL) &&
                   strcmp(record.socket, hub->record.socket) == 0;

    if (hub->passed_fd >= 0 && !is_same)
        os_turn_away(hub->passed_fd);
}

/* With the lock. */
static enum hub_outcome serve(struct hub *hub, struct error *err)
{
    const struct hub_options *options = hub->options;
    enum hub_outcome outcome = HUB_FAILED;

    os_drop_unfinished(hub->location.record);
    os_drop_unfinished(hub->location.settings);
    if (options->leaves_when_idle)
        log_keep_short(hub->location.log);
    settings_load(options->settings, hub->location.settings);
    log_set_level((enum log_level)settings_integer(options->settings, SETTING_LOG_LEVEL));
    hub->loop = loop_new();
    loop_on_signal(hub->loop, on_signal, hub);
    if (!settings_problem(options->settings, err) && open_parts(hub, err) && announce(hub, err)) {
        loop_before_sleep(hub->loop, before_sleep, hub);
        hub->is_turning = true;
        loop_run(hub->loop);
        hub->is_turning = hub->is_time_known = false;
        loop_before_sleep(hub->loop, NULL, NULL); /* a store that closes still turns it */
        outcome = HUB_ENDED;
    } else if (hub->passed_fd >= 0 && !hub->is_leaving) {
        unlink(hub->location.record); /* it would send clients to our manager again */
    }
    close_parts(hub);
    loop_free(hub->loop);
    return outcome;
}

enum hub_outcome hub_run(const struct hub_options *options, struct error *err)
{
    struct hub hub = { .options = options, .clock = hub_clock, .lock_fd = -1, .passed_fd = -1 };
    enum hub_outcome outcome = HUB_FAILED;
    enum os_lock lock;

    os_harden();
    os_allow_files(HUB_FILES);
    if (!os_passed_socket(&hub.passed_fd, hub.record.socket, sizeof hub.record.socket, err) ||
        !location_find(&hub.location, err) || !location_prepare(&hub.location, err))
        goto out;
    if (options->leaves_when_idle && activation_begin(&hub.location))
        return HUB_BUSY;
    lock = os_lock_file(hub.location.lock, &hub.lock_fd);
    if (lock == OS_LOCK_BUSY) {
        make_way(&hub);
        return HUB_BUSY;
    }
    if (lock == OS_LOCK_FAILED) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LOCK, "path", hub.location.lock,
                  "reason", strerror(errno), NULL);
        goto out;
    }
    outcome = serve(&hub, err);
    close(hub.lock_fd);
    if (outcome == HUB_ENDED && !options->leaves_when_idle && hub.why &&
        strcmp(hub.why, "retire") == 0) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_RETIRED, NULL);
        outcome = HUB_RETIRED;
    }
out:
    /* A client that waits for a hub that can't begin would have the manager start it again and
     * again. Turned away, it can start one of its own, which may manage, or tells it why not. The
     * lock is free by now, since such a client looks at it. */
    if (outcome == HUB_FAILED && hub.passed_fd >= 0 && !hub.is_leaving)
        os_turn_away(hub.passed_fd);
    return outcome;
}
