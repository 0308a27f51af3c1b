/* tui_forms.h - the questions that docs/terminal.md shows, as the hub stores them. */
#ifndef TUI_FORMS_H
#define TUI_FORMS_H

#define FORM(title, prompt, fields, more)                                                          \
    "\"title\":\"" title "\",\"prompt\":\"" prompt "\",\"fields\":[" fields                        \
    "],\"allow_annotations\":true" more
#define OPTION(id, label, more) "{\"id\":\"" id "\",\"label\":\"" label "\"" more "}"
#define RECOMMENDED             ",\"recommended\":true"
#define ABOUT(text)             ",\"description\":\"" text "\""

#define CACHE_OPTIONS                                                                              \
    "\"options\":[{\"id\":\"redis\",\"label\":\"Redis, write-through\",\"description\":\"One "     \
    "more "                                                                                        \
    "service to run; stock is right within 50 ms. About 2 h of work.\",\"recommended\":true},"     \
    "{\"id\":\"view\",\"label\":\"Materialized view, refreshed every 5 s\",\"description\":"       \
    "\"Nothing new to run; stock may be 5 s old.\"},{\"id\":\"process\",\"label\":\"In-process "   \
    "cache, 30 s\",\"description\":\"Simplest; each of the 6 pods has its own truth.\"},{\"id\":"  \
    "\"leave\",\"label\":\"Leave it as it is\",\"description\":\"Scale the database up instead, "  \
    "about 310 EUR a month.\"}],\"min_selections\":1,\"max_selections\":1"

static const char cache_form[] =
    "\"title\":\"Which cache should the product page use?\",\"prompt\":\"The product page reads "
    "stock levels 1,200 times a second at peak and PostgreSQL is at 78 % CPU. A cache in front "
    "would fix it; the ways differ in how old the shown stock may be, so I need your call.\\n- "
    "Target: p95 under 80 ms\\n- Must survive a deploy without a cold start\",\"fields\":[{"
    "\"name\":\"choice\",\"kind\":\"single\",\"required\":true," CACHE_OPTIONS
    "}],\"allow_annotations\":true,\"single_submit\":true";

static const char checks_form[] = FORM(
    "Which checks should block a merge?",
    "Branch protection on main is empty. Every check adds waiting time to "
    "each pull request, so "
    "only the ones you would really wait for.",
    "{\"name\":\"choice\",\"kind\":\"multi\",\"required\":true,\"options\":"
    "[" OPTION("unit", "Unit tests", ABOUT("1 min 40 s, never flaky in the last 90 days") RECOMMENDED ",\"default\":true") "," OPTION("type", "Type check", ABOUT("35 s") RECOMMENDED ",\"default\":true") "," OPTION(
        "browser", "Browser tests",
        ABOUT(
            "11 min, 3 % flaky")) "," OPTION("licence", "Licence scan",
                                             ABOUT(
                                                 "20 s")) "," OPTION("bundle",
                                                                     "Bundle "
                                                                     "size "
                                                                     "limit",
                                                                     ABOUT(
                                                                         "15 "
                                                                         "s; "
                                                                         "fail"
                                                                         "s "
                                                                         "abov"
                                                                         "e "
                                                                         "60 "
                                                                         "KB "
                                                                         "comp"
                                                                         "ress"
                                                                         "ed")) "," OPTION("h1",
                                                                                           "Hidden "
                                                                                           "1",
                                                                                           "") "," OPTION("h2",
                                                                                                          "Hidden 2",
                                                                                                          "") "," OPTION("h3",
                                                                                                                         "Hidden 3",
                                                                                                                         "") "," OPTION("h4",
                                                                                                                                        "Hidden 4",
                                                                                                                                        "") "],\"min_selections\":1,\"max_selections\":3}",
    "");

static const char endpoint_form[] = FORM(
    "What should the new endpoint be called?",
    "It returns all invoices of an account with their payment state. The name becomes public API, "
    "so it stays for years.",
    "{\"name\":\"choice\",\"kind\":\"hybrid\",\"required\":true,\"options\":[" OPTION(
        "a", "GET /invoices",
        RECOMMENDED) "," OPTION("b", "GET /accounts/{id}/invoices",
                                "") "," OPTION("c", "GET /billing/invoices",
                                               "") "],\"min_selections\":0,\"max_selections\":1}",
    "");

static const char volumes_form[] = FORM(
    "Delete 3 unused database volumes?",
    "They have had no mount for 94 days and cost 57 EUR a month. There is no backup of vol-0b41.",
    "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":[" OPTION(
        "keep-all", "Keep all three",
        RECOMMENDED) "," OPTION("backup-first", "Back up, then delete tomorrow",
                                "") "," OPTION("delete-now", "Delete all three now",
                                               ABOUT(
                                                   "vol-0b41 vol-77ce vol-a91f")) "],\"min_"
                                                                                  "selections\":1,"
                                                                                  "\"max_"
                                                                                  "selections\":1}",
    ",\"destructive\":true");

#define QUESTION(name, kind, label, about, more)                                                   \
    "{\"name\":\"" name "\",\"kind\":\"" kind "\",\"required\":true,\"label\":\"" label            \
    "\",\"description\":\"" about "\"" more "}"

static const char release_form[] = FORM(
    "Three questions before the release", "Three questions before the release",
    QUESTION("version", "text", "Version", "Which version number?", ",\"default_text\":\"3.0.0\"") "," QUESTION(
        "audience", "hybrid", "Audience", "Who gets version 3.0 first?",
        ",\"options\":[" OPTION("team", "Our own team", ABOUT("41 people, finds rough edges within a day")) "," OPTION(
            "beta", "Beta group",
            ABOUT(
                "1,930 people who asked for it")) "," OPTION("region", "Everyone in one region",
                                                             ABOUT(
                                                                 "Ireland, about 4 % of "
                                                                 "traffic")) "],\"max_"
                                                                             "selections\":"
                                                                             "3") "," QUESTION("rol"
                                                                                               "lou"
                                                                                               "t",
                                                                                               "sin"
                                                                                               "gl"
                                                                                               "e",
                                                                                               "Rol"
                                                                                               "lou"
                                                                                               "t",
                                                                                               "How"
                                                                                               " fa"
                                                                                               "st"
                                                                                               "?",
                                                                                               ",\""
                                                                                               "opt"
                                                                                               "ion"
                                                                                               "s\""
                                                                                               ":"
                                                                                               "[" OPTION(
                                                                                                   "slow",
                                                                                                   "10 % a day, stop at the first alarm",
                                                                                                   "") "," OPTION("fast",
                                                                                                                  "All at once",
                                                                                                                  "") "],\"min_selections\":1,\"max_selections\":1"),
    "");

static const char retry_form[] = FORM(
    "How should the retry be written?", "How should the retry be written?",
    "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":[" OPTION(
        "small", "Small change in place",
        ABOUT("Three tries, then the error goes up.") RECOMMENDED
        ",\"preview\":{\"type\":\"diff\",\"text\":\"--- a/client.c\\n+++ b/client.c\\n@@ -41,8 "
        "+41,12 @@ send_order\\n   struct reply reply;\\n-  int status = call(req, &reply);\\n-  "
        "return status;\\n+  int status = -1;\\n+  for (int try = 0; try < 3; try++) {\\n+    "
        "status = call(req, &reply);\\n+    if (status != BUSY) break;\\n+    pause_ms(200 << "
        "try);\\n+  }  return status;\\n }\"}") "," OPTION("helper", "A helper of its own",
                                                           "") "," OPTION("proxy",
                                                                          "Leave it to the proxy",
                                                                          "") "],\"min_"
                                                                              "selections\":1,"
                                                                              "\"max_selections\":"
                                                                              "1}",
    ",\"single_submit\":true");

static const char short_form[] = FORM(
    "Which cache should the product page use?", "Which cache should the product page use?",
    "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":[" OPTION(
        "redis", "Redis, write-through",
        ABOUT("One more service to run; stock is right within 50 ms. About 2 h of "
              "work.") RECOMMENDED) "," OPTION("view", "Materialized view, refreshed every 5 s",
                                               ABOUT("Nothing new to run; stock may be 5 s "
                                                     "old.")) "],\"min_selections\":1,\"max_"
                                                              "selections\":1}",
    ",\"single_submit\":true");

#endif
