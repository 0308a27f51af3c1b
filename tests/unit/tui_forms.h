/* tui_forms.h - the questions that docs/terminal.md shows, as the hub stores them: a member of the
 * form, a field or an option a line. */
#ifndef TUI_FORMS_H
#define TUI_FORMS_H

#define FORM(title, prompt, fields, more)                                                          \
    "\"title\":\"" title "\",\"prompt\":\"" prompt "\",\"fields\":[" fields                        \
    "],\"allow_annotations\":true" more
#define OPTION(id, label, more) "{\"id\":\"" id "\",\"label\":\"" label "\"" more "}"
#define RECOMMENDED             ",\"recommended\":true"
#define ABOUT(text)             ",\"description\":\"" text "\""

/* clang-format off */

static const char cache_form[] =
    "\"title\":\"Which cache should the product page use?\","
    "\"prompt\":\"The product page reads stock levels 1,200 times a second at peak and PostgreSQL "
        "is at 78 % CPU. A cache in front would fix it; the ways differ in how old the shown "
        "stock may be, so I need your call.\\n- Target: p95 under 80 ms\\n- Must survive a deploy "
        "without a cold start\","
    "\"fields\":["
        "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":["
            "{\"id\":\"redis\",\"label\":\"Redis, write-through\",\"description\":\"One more "
                "service to run; stock is right within 50 ms. About 2 h of work.\","
                "\"recommended\":true},"
            "{\"id\":\"view\",\"label\":\"Materialized view, refreshed every 5 s\","
                "\"description\":\"Nothing new to run; stock may be 5 s old.\"},"
            "{\"id\":\"process\",\"label\":\"In-process cache, 30 s\",\"description\":\"Simplest; "
                "each of the 6 pods has its own truth.\"},"
            "{\"id\":\"leave\",\"label\":\"Leave it as it is\",\"description\":\"Scale the "
                "database up instead, about 310 EUR a month.\"}"
        "],\"min_selections\":1,\"max_selections\":1}"
    "],"
    "\"allow_annotations\":true,"
    "\"single_submit\":true";

static const char checks_form[] =
    "\"title\":\"Which checks should block a merge?\","
    "\"prompt\":\"Branch protection on main is empty. Every check adds waiting time to each pull "
        "request, so only the ones you would really wait for.\","
    "\"fields\":["
        "{\"name\":\"choice\",\"kind\":\"multi\",\"required\":true,\"options\":["
            "{\"id\":\"unit\",\"label\":\"Unit tests\",\"description\":\"1 min 40 s, never flaky "
                "in the last 90 days\",\"recommended\":true,\"default\":true},"
            "{\"id\":\"type\",\"label\":\"Type check\",\"description\":\"35 s\","
                "\"recommended\":true,\"default\":true},"
            "{\"id\":\"browser\",\"label\":\"Browser tests\",\"description\":\"11 min, 3 % "
                "flaky\"},"
            "{\"id\":\"licence\",\"label\":\"Licence scan\",\"description\":\"20 s\"},"
            "{\"id\":\"bundle\",\"label\":\"Bundle size limit\",\"description\":\"15 s; fails "
                "above 60 KB compressed\"},"
            "{\"id\":\"h1\",\"label\":\"Hidden 1\"},"
            "{\"id\":\"h2\",\"label\":\"Hidden 2\"},"
            "{\"id\":\"h3\",\"label\":\"Hidden 3\"},"
            "{\"id\":\"h4\",\"label\":\"Hidden 4\"}"
        "],\"min_selections\":1,\"max_selections\":3}"
    "],"
    "\"allow_annotations\":true";

static const char endpoint_form[] =
    "\"title\":\"What should the new endpoint be called?\","
    "\"prompt\":\"It returns all invoices of an account with their payment state. The name "
        "becomes public API, so it stays for years.\","
    "\"fields\":["
        "{\"name\":\"choice\",\"kind\":\"hybrid\",\"required\":true,\"options\":["
            "{\"id\":\"a\",\"label\":\"GET /invoices\",\"recommended\":true},"
            "{\"id\":\"b\",\"label\":\"GET /accounts/{id}/invoices\"},"
            "{\"id\":\"c\",\"label\":\"GET /billing/invoices\"}"
        "],\"min_selections\":0,\"max_selections\":1}"
    "],"
    "\"allow_annotations\":true";

static const char volumes_form[] =
    "\"title\":\"Delete 3 unused database volumes?\","
    "\"prompt\":\"They have had no mount for 94 days and cost 57 EUR a month. There is no backup "
        "of vol-0b41.\","
    "\"fields\":["
        "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":["
            "{\"id\":\"keep-all\",\"label\":\"Keep all three\",\"recommended\":true},"
            "{\"id\":\"backup-first\",\"label\":\"Back up, then delete tomorrow\",\"destructive\":true},"
            "{\"id\":\"delete-now\",\"label\":\"Delete all three now\",\"destructive\":true,\"description\":\"vol-0b41 "
                "vol-77ce vol-a91f\"}"
        "],\"min_selections\":1,\"max_selections\":1}"
    "],"
    "\"allow_annotations\":true,"
    "\"destructive\":true";

static const char release_form[] =
    "\"title\":\"Three questions before the release\","
    "\"prompt\":\"Three questions before the release\","
    "\"fields\":["
        "{\"name\":\"version\",\"kind\":\"text\",\"required\":true,\"label\":\"Version\","
            "\"description\":\"Which version number?\",\"default_text\":\"3.0.0\"},"
        "{\"name\":\"audience\",\"kind\":\"hybrid\",\"required\":true,\"label\":\"Audience\","
            "\"description\":\"Who gets version 3.0 first?\",\"options\":["
            "{\"id\":\"team\",\"label\":\"Our own team\",\"description\":\"41 people, finds rough "
                "edges within a day\"},"
            "{\"id\":\"beta\",\"label\":\"Beta group\",\"description\":\"1,930 people who asked "
                "for it\"},"
            "{\"id\":\"region\",\"label\":\"Everyone in one region\",\"description\":\"Ireland, "
                "about 4 % of traffic\"}"
        "],\"max_selections\":3},"
        "{\"name\":\"rollout\",\"kind\":\"single\",\"required\":true,\"label\":\"Rollout\","
            "\"description\":\"How fast?\",\"options\":["
            "{\"id\":\"slow\",\"label\":\"10 % a day, stop at the first alarm\"},"
            "{\"id\":\"fast\",\"label\":\"All at once\"}"
        "],\"min_selections\":1,\"max_selections\":1}"
    "],"
    "\"allow_annotations\":true";

static const char retry_form[] =
    "\"title\":\"How should the retry be written?\","
    "\"prompt\":\"How should the retry be written?\","
    "\"fields\":["
        "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":["
            "{\"id\":\"small\",\"label\":\"Small change in place\",\"description\":\"Three tries, "
                "then the error goes up.\",\"recommended\":true,\"preview\":{\"type\":\"diff\","
                "\"text\":\"--- a/client.c\\n+++ b/client.c\\n@@ -41,8 +41,12 @@ send_order\\n   "
                "struct reply reply;\\n-  int status = call(req, &reply);\\n-  return status;\\n+ "
                " int status = -1;\\n+  for (int try = 0; try < 3; try++) {\\n+    status = "
                "call(req, &reply);\\n+    if (status != BUSY) break;\\n+    pause_ms(200 << "
                "try);\\n+  }  return status;\\n }\"}},"
            "{\"id\":\"helper\",\"label\":\"A helper of its own\"},"
            "{\"id\":\"proxy\",\"label\":\"Leave it to the proxy\"}"
        "],\"min_selections\":1,\"max_selections\":1}"
    "],"
    "\"allow_annotations\":true,"
    "\"single_submit\":true";

static const char short_form[] =
    "\"title\":\"Which cache should the product page use?\","
    "\"prompt\":\"Which cache should the product page use?\","
    "\"fields\":["
        "{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"options\":["
            "{\"id\":\"redis\",\"label\":\"Redis, write-through\",\"description\":\"One more "
                "service to run; stock is right within 50 ms. About 2 h of work.\","
                "\"recommended\":true},"
            "{\"id\":\"view\",\"label\":\"Materialized view, refreshed every 5 s\","
                "\"description\":\"Nothing new to run; stock may be 5 s old.\"}"
        "],\"min_selections\":1,\"max_selections\":1}"
    "],"
    "\"allow_annotations\":true,"
    "\"single_submit\":true";

/* clang-format on */

#endif
