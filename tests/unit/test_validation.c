/*
 * Every rule of a provide_choice call at its boundary: what is accepted, what is refused, where,
 * and which of two faults is told first.
 * Proves: R2.1, R11.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/tools/arguments.h"

/* Written with single quotes; <A*200> stands for 200 times A. */
#define TITLE     "'title':'Deploy',"
#define PROMPT    "'prompt':'The build is done; two hosts are healthy.',"
#define HEAD      "{" TITLE PROMPT
#define OPTION_A  "{'id':'a','label':'Alpha','recommended':true}"
#define OPTION_B  "{'id':'b','label':'Beta'}"
#define AB        "'options':[" OPTION_A "," OPTION_B "]"
#define ONE(more) "'options':[{'id':'a','label':'Alpha','recommended':true," more "}]"
#define SINGLE    HEAD "'selection_mode':'single'," AB
#define MULTI     HEAD "'selection_mode':'multi'," AB
#define HYBRID    HEAD "'selection_mode':'hybrid'," AB
#define TEXT      HEAD "'selection_mode':'text_input'"
#define ID        "'session_id':'abcdefghijklmnopqrstuvwxy2'"
#define WITH(options)                                                                              \
    HEAD "'selection_mode':'multi','options':[{'id':'z','label':'Zeta','recommended':true}"        \
         "," options "]}"

static const struct rule_case {
    const char *name, *arguments;
    const char *code, *path; /* NULL: accepted */
} cases[] = {
    { "a plain single choice", SINGLE "}", NULL, NULL },
    { "a plain multiple choice", MULTI "}", NULL, NULL },
    { "a plain hybrid", HYBRID "}", NULL, NULL },
    { "a plain text", TEXT "}", NULL, NULL },

    { "arguments are a list", "[]", "bad_type", "" },
    { "arguments are a text", "'x'", "bad_type", "" },
    { "arguments are null", "null", "bad_type", "" },
    { "nothing at all", "{}", "missing_property", "/title" },

    { "an unknown property", SINGLE ",'x':1}", "unknown_property", "/x" },
    { "names are exact", SINGLE ",'Title':'x'}", "unknown_property", "/Title" },
    { "a slash and a tilde are escaped", SINGLE ",'a/b~c':1}", "unknown_property", "/a~1b~0c" },
    { "an empty name", SINGLE ",'':1}", "unknown_property", "/" },
    { "an unknown property of an option", WITH("{'id':'a','label':'A','x':1}"), "unknown_property",
      "/options/1/x" },
    { "an unknown property of a preview",
      WITH("{'id':'a','label':'A','preview':{'type':'text','text':'t','x':1}}"), "unknown_property",
      "/options/1/preview/x" },
    { "what clients add is dropped", SINGLE ",'wait_for_previous':true}", NULL, NULL },
    { "whatever its type", SINGLE ",'wait_for_previous':{'x':[1]}}", NULL, NULL },
    { "but only where they add it", WITH("{'id':'a','label':'A','wait_for_previous':true}"),
      "unknown_property", "/options/1/wait_for_previous" },

    { "no title", "{" PROMPT "'selection_mode':'single'," AB "}", "missing_property", "/title" },
    { "no prompt", "{" TITLE "'selection_mode':'single'," AB "}", "missing_property", "/prompt" },
    { "no mode", HEAD AB "}", "missing_property", "/selection_mode" },
    { "no options in single", HEAD "'selection_mode':'single'}", "missing_property", "/options" },
    { "no options in multi", HEAD "'selection_mode':'multi'}", "missing_property", "/options" },
    { "no options in hybrid", HEAD "'selection_mode':'hybrid'}", "missing_property", "/options" },
    { "no id", WITH("{'label':'A'}"), "missing_property", "/options/1/id" },
    { "no label", WITH("{'id':'a'}"), "missing_property", "/options/1/label" },
    { "no type in a preview", WITH("{'id':'a','label':'A','preview':{'text':'t'}}"),
      "missing_property", "/options/1/preview/type" },
    { "no text in a preview", WITH("{'id':'a','label':'A','preview':{'type':'diff'}}"),
      "missing_property", "/options/1/preview/text" },

    { "null is no title", "{'title':null," PROMPT "'selection_mode':'single'," AB "}",
      "missing_property", "/title" },
    { "null means absent", SINGLE ",'timeout_seconds':null}", NULL, NULL },
    { "null in an option", WITH("{'id':'a','label':'A','description':null,'recommended':null}"),
      NULL, NULL },
    { "null for what is unknown", SINGLE ",'x':null}", NULL, NULL },
    { "null for all that may be left out",
      SINGLE ",'placeholder':null,'placeholder_visible':null,'default_selection_ids':null,"
             "'min_selections':null,'max_selections':null,'single_submit_mode':null,"
             "'allow_annotations':null,'global_annotation':null,'interface':null,"
             "'timeout_seconds':null,'allow_cancel':null,'session_id':null,'wait_seconds':null,"
             "'idempotency_key':null}",
      NULL, NULL },
    { "null where options may not be", TEXT ",'options':null}", NULL, NULL },
    { "null doesn't say whether it can be undone", SINGLE ",'destructive':null}", "bad_type",
      "/destructive" },
    { "nor does it for an option", WITH("{'id':'a','label':'A','destructive':null}"), "bad_type",
      "/options/1/destructive" },
    { "null in a list of defaults", MULTI ",'default_selection_ids':[null]}", "bad_type",
      "/default_selection_ids/0" },
    { "a prompt that is a list", "{" TITLE "'prompt':[],'selection_mode':'single'," AB "}",
      "bad_type", "/prompt" },
    { "options that are an object", HEAD "'selection_mode':'multi','options':{'id':'a'}}",
      "bad_type", "/options" },
    { "an option that is a text", WITH("'a'"), "bad_type", "/options/1" },
    { "an option that is null", WITH("null"), "bad_type", "/options/1" },
    { "a label that is a number", WITH("{'id':'a','label':1}"), "bad_type", "/options/1/label" },
    { "a description that is true", WITH("{'id':'a','label':'A','description':true}"), "bad_type",
      "/options/1/description" },
    { "recommended as a text", WITH("{'id':'a','label':'A','recommended':'true'}"), "bad_type",
      "/options/1/recommended" },
    { "recommended as a number", WITH("{'id':'a','label':'A','recommended':1}"), "bad_type",
      "/options/1/recommended" },
    { "an annotation that is an object", WITH("{'id':'a','label':'A','annotation':{}}"), "bad_type",
      "/options/1/annotation" },
    { "a preview that is a list", WITH("{'id':'a','label':'A','preview':[]}"), "bad_type",
      "/options/1/preview" },
    { "a preview's language that is a number",
      WITH("{'id':'a','label':'A','preview':{'type':'code','text':'t','language':1}}"), "bad_type",
      "/options/1/preview/language" },
    { "defaults of numbers", MULTI ",'default_selection_ids':['a',2]}", "bad_type",
      "/default_selection_ids/1" },
    { "a whole number with a point", SINGLE ",'timeout_seconds':60.0}", NULL, NULL },
    { "a whole number with an exponent", SINGLE ",'timeout_seconds':6e1}", NULL, NULL },
    { "a number with a fraction", SINGLE ",'timeout_seconds':60.5}", "bad_type",
      "/timeout_seconds" },
    { "a number as a text", SINGLE ",'timeout_seconds':'60'}", "bad_type", "/timeout_seconds" },
    { "minimum with a fraction", MULTI ",'min_selections':0.5}", "bad_type", "/min_selections" },
    { "a switch as 1", SINGLE ",'allow_annotations':1}", "bad_type", "/allow_annotations" },
    { "a switch as a text", SINGLE ",'destructive':'yes'}", "bad_type", "/destructive" },
    { "allow_cancel must be a switch", SINGLE ",'allow_cancel':0}", "bad_type", "/allow_cancel" },
    { "a key that is a number", SINGLE ",'idempotency_key':7}", "bad_type", "/idempotency_key" },
    { "a handle that is a number", "{'session_id':7}", "bad_type", "/session_id" },
    { "a handle that is null", "{'session_id':null}", "missing_property", "/title" },
    { "NUL in a title", "{'title':'a\\u0000b'," PROMPT "'selection_mode':'single'," AB "}",
      "nul_character", "/title" },
    { "NUL in a label", WITH("{'id':'a','label':'A\\u0000'}"), "nul_character",
      "/options/1/label" },
    { "NUL in a plain preview", WITH("{'id':'a','label':'A','preview':'\\u0000'}"), "nul_character",
      "/options/1/preview" },
    { "NUL in a preview", WITH("{'id':'a','label':'A','preview':{'type':'text','text':'\\u0000'}}"),
      "nul_character", "/options/1/preview/text" },
    { "NUL in a default", MULTI ",'default_selection_ids':['a\\u0000']}", "nul_character",
      "/default_selection_ids/0" },
    { "NUL in a mode", HEAD "'selection_mode':'single\\u0000'," AB "}", "nul_character",
      "/selection_mode" },
    { "NUL in a handle", "{'session_id':'abcdefghijklmnopqrstuvwxy2\\u0000'}", "nul_character",
      "/session_id" },
    { "a mode in capitals", HEAD "'selection_mode':'Single'," AB "}", "bad_enum",
      "/selection_mode" },
    { "an empty mode", HEAD "'selection_mode':''," AB "}", "bad_enum", "/selection_mode" },
    { "an unknown interface", SINGLE ",'interface':'phone'}", "bad_enum", "/interface" },
    { "every interface: auto", SINGLE ",'interface':'auto'}", NULL, NULL },
    { "every interface: web", SINGLE ",'interface':'web'}", NULL, NULL },
    { "every interface: terminal", SINGLE ",'interface':'terminal'}", NULL, NULL },
    { "every interface: client", SINGLE ",'interface':'client'}", NULL, NULL },
    { "a preview of an unknown type",
      WITH("{'id':'a','label':'A','preview':{'type':'html','text':'t'}}"), "bad_enum",
      "/options/1/preview/type" },
    { "a preview without a type's name",
      WITH("{'id':'a','label':'A','preview':{'type':'','text':'t'}}"), "bad_enum",
      "/options/1/preview/type" },

    { "a title of 200", "{'title':'<é*200>'," PROMPT "'selection_mode':'single'," AB "}", NULL,
      NULL },
    { "a title of 201", "{'title':'<é*201>'," PROMPT "'selection_mode':'single'," AB "}",
      "too_long", "/title" },
    { "blanks count towards the maximum",
      "{'title':'A< *200>'," PROMPT "'selection_mode':'single'," AB "}", "too_long", "/title" },
    { "an empty title", "{'title':''," PROMPT "'selection_mode':'single'," AB "}", "empty_text",
      "/title" },
    { "an invisible title",
      "{'title':' \\u200b\\t\\u2060'," PROMPT "'selection_mode':'single'," AB "}", "empty_text",
      "/title" },
    { "a title of one character", "{'title':'?'," PROMPT "'selection_mode':'single'," AB "}", NULL,
      NULL },
    { "a prompt of 20", "{" TITLE "'prompt':'<é*20>','selection_mode':'single'," AB "}", NULL,
      NULL },
    { "a prompt of 19", "{" TITLE "'prompt':'<é*19>','selection_mode':'single'," AB "}",
      "too_short", "/prompt" },
    { "a prompt of 19 and blanks",
      "{" TITLE "'prompt':' <A*19>< *40>','selection_mode':'single'," AB "}", "too_short",
      "/prompt" },
    { "a prompt of 19 and invisible ones",
      "{" TITLE "'prompt':'<A*19>\\u200b\\u200b','selection_mode':'single'," AB "}", "too_short",
      "/prompt" },
    { "a short prompt for a text", "{" TITLE "'prompt':'Name?','selection_mode':'text_input'}",
      "too_short", "/prompt" },
    { "an empty prompt", "{" TITLE "'prompt':'','selection_mode':'single'," AB "}", "empty_text",
      "/prompt" },
    { "a prompt of 64 KiB", "{" TITLE "'prompt':'<A*65536>','selection_mode':'single'," AB "}",
      NULL, NULL },
    { "a prompt of 64 KiB and one byte",
      "{" TITLE "'prompt':'<é*32768>A','selection_mode':'single'," AB "}", "too_long", "/prompt" },

    { "no option in the list", HEAD "'selection_mode':'single','options':[]}", "too_few_options",
      "/options" },
    { "one option", HEAD "'selection_mode':'single'," ONE("'annotation':'x'") "}", NULL, NULL },
    { "an id of 128 bytes", WITH("{'id':'<é*64>','label':'A'}"), NULL, NULL },
    { "an id of 129 bytes", WITH("{'id':'<é*64>A','label':'A'}"), "too_long", "/options/1/id" },
    { "an id of blanks", WITH("{'id':'  ','label':'A'}"), "empty_text", "/options/1/id" },
    { "a label of 200", WITH("{'id':'a','label':'<é*200>'}"), NULL, NULL },
    { "a label of 201", WITH("{'id':'a','label':'<é*201>'}"), "too_long", "/options/1/label" },
    { "an empty label", WITH("{'id':'a','label':''}"), "empty_text", "/options/1/label" },
    { "a description of 2000", WITH("{'id':'a','label':'A','description':'<é*2000>'}"), NULL,
      NULL },
    { "a description of 2001", WITH("{'id':'a','label':'A','description':'<é*2001>'}"), "too_long",
      "/options/1/description" },
    { "an empty description", WITH("{'id':'a','label':'A','description':''}"), NULL, NULL },
    { "an annotation of 2000", WITH("{'id':'a','label':'A','annotation':'<é*2000>'}"), NULL, NULL },
    { "an annotation of 2001", WITH("{'id':'a','label':'A','annotation':'<é*2001>'}"), "too_long",
      "/options/1/annotation" },
    { "a plain preview of 64 KiB", WITH("{'id':'a','label':'A','preview':'<A*65536>'}"), NULL,
      NULL },
    { "a plain preview over 64 KiB", WITH("{'id':'a','label':'A','preview':'<A*65537>'}"),
      "too_long", "/options/1/preview" },
    { "a typed preview of 64 KiB",
      WITH("{'id':'a','label':'A','preview':{'type':'diff','text':'<A*65536>'}}"), NULL, NULL },
    { "a typed preview over 64 KiB",
      WITH("{'id':'a','label':'A','preview':{'type':'diff','text':'<A*65537>'}}"), "too_long",
      "/options/1/preview/text" },
    { "a language of 64",
      WITH("{'id':'a','label':'A','preview':{'type':'code','text':'t','language':'<c*64>'}}"), NULL,
      NULL },
    { "a language of 65",
      WITH("{'id':'a','label':'A','preview':{'type':'code','text':'t','language':'<c*65>'}}"),
      "too_long", "/options/1/preview/language" },
    { "a placeholder of 200", TEXT ",'placeholder':'<é*200>'}", NULL, NULL },
    { "a placeholder of 201", TEXT ",'placeholder':'<é*201>'}", "too_long", "/placeholder" },
    { "an empty placeholder", HYBRID ",'placeholder':''}", NULL, NULL },
    { "a common note of 2000", SINGLE ",'global_annotation':'<é*2000>'}", NULL, NULL },
    { "a common note of 2001", SINGLE ",'global_annotation':'<é*2001>'}", "too_long",
      "/global_annotation" },
    { "a key of 128 bytes", SINGLE ",'idempotency_key':'<é*64>'}", NULL, NULL },
    { "a key of 129 bytes", SINGLE ",'idempotency_key':'<é*64>k'}", "too_long",
      "/idempotency_key" },
    { "1 s", SINGLE ",'timeout_seconds':1}", NULL, NULL },
    { "0 s", SINGLE ",'timeout_seconds':0}", "out_of_range", "/timeout_seconds" },
    { "less than nothing", SINGLE ",'timeout_seconds':-0.0}", "out_of_range", "/timeout_seconds" },
    { "30 days", SINGLE ",'timeout_seconds':2592000}", NULL, NULL },
    { "30 days and 1 s", SINGLE ",'timeout_seconds':2592001}", "out_of_range", "/timeout_seconds" },
    { "as long as there are numbers", SINGLE ",'timeout_seconds':1e300}", "out_of_range",
      "/timeout_seconds" },
    { "as long backwards", SINGLE ",'timeout_seconds':-1e300}", "out_of_range",
      "/timeout_seconds" },
    { "100 defaults are looked at", MULTI ",'default_selection_ids':[<'a',*99>'a']}",
      "duplicate_default", "/default_selection_ids/1" },
    { "101 defaults are not", MULTI ",'default_selection_ids':[<'a',*100>'a']}",
      "too_many_defaults", "/default_selection_ids" },

    { "collecting", "{" ID "}", NULL, NULL },
    { "collecting with company", "{" ID ",'wait_seconds':10,'interface':'terminal'}", NULL, NULL },
    { "collecting with what clients add", "{" ID ",'wait_for_previous':false}", NULL, NULL },
    { "collecting and asking", SINGLE "," ID "}", "conflicting_arguments", "/session_id" },
    { "collecting with a deadline", "{" ID ",'timeout_seconds':9}", "conflicting_arguments",
      "/session_id" },
    { "collecting with a key", "{" ID ",'idempotency_key':'k'}", "conflicting_arguments",
      "/session_id" },
    { "collecting with a mode", "{" ID ",'selection_mode':'multi'}", "conflicting_arguments",
      "/session_id" },
    { "25 characters", "{'session_id':'abcdefghijklmnopqrstuvwxy'}", "bad_format", "/session_id" },
    { "27 characters", "{'session_id':'abcdefghijklmnopqrstuvwxy22'}", "bad_format",
      "/session_id" },
    { "a 1 in the handle", "{'session_id':'abcdefghijklmnopqrstuvwxy1'}", "bad_format",
      "/session_id" },
    { "a capital in the handle", "{'session_id':'Abcdefghijklmnopqrstuvwxy2'}", "bad_format",
      "/session_id" },
    { "an empty handle", "{'session_id':''}", "missing_property", "/title" },
    { "asking with an empty handle", SINGLE ",'session_id':''}", NULL, NULL },
    { "a handle of blanks", SINGLE ",'session_id':' '}", "bad_format", "/session_id" },
    { "collecting with what says nothing",
      "{" ID ",'title':'','prompt':'','options':[],'placeholder':'','placeholder_visible':true,"
      "'default_selection_ids':[],'min_selections':0,'allow_annotations':true,"
      "'global_annotation':'','destructive':false,'idempotency_key':''}",
      NULL, NULL },
    { "collecting what may be destructive", "{" ID ",'destructive':true}", "conflicting_arguments",
      "/session_id" },
    { "waiting 0 s", "{" ID ",'wait_seconds':0}", NULL, NULL },
    { "waiting 60 s", "{" ID ",'wait_seconds':60}", NULL, NULL },
    { "waiting 61 s", "{" ID ",'wait_seconds':61}", "out_of_range", "/wait_seconds" },
    { "waiting -1 s", "{" ID ",'wait_seconds':-1}", "out_of_range", "/wait_seconds" },
    { "waiting for nothing", SINGLE ",'wait_seconds':10}", "conflicting_arguments",
      "/wait_seconds" },
    { "waiting as long as by default", SINGLE ",'wait_seconds':30}", NULL, NULL },
    { "everything at its default in single",
      SINGLE ",'placeholder':'','placeholder_visible':true,'default_selection_ids':[],"
             "'min_selections':0,'max_selections':1,'single_submit_mode':true,"
             "'allow_annotations':true,'global_annotation':'','interface':'auto',"
             "'destructive':false,'session_id':'','wait_seconds':30,'idempotency_key':''}",
      NULL, NULL },
    { "everything at its default in a text",
      TEXT ",'options':[],'placeholder':'','placeholder_visible':true,'default_selection_ids':[],"
           "'min_selections':0,'single_submit_mode':false,'allow_annotations':true,"
           "'global_annotation':'','interface':'','destructive':false,'session_id':'',"
           "'wait_seconds':30,'idempotency_key':''}",
      NULL, NULL },

    { "options in a text", TEXT "," AB "}", "unsupported_flag", "/options" },
    { "a placeholder in single", SINGLE ",'placeholder':'x'}", "unsupported_flag", "/placeholder" },
    { "a placeholder in multi", MULTI ",'placeholder':'x'}", "unsupported_flag", "/placeholder" },
    { "a placeholder in hybrid", HYBRID ",'placeholder':'x','placeholder_visible':false}", NULL,
      NULL },
    { "an empty one in single", SINGLE ",'placeholder':''}", NULL, NULL },
    { "its visibility in single", SINGLE ",'placeholder_visible':true}", NULL, NULL },
    { "its visibility in multi", MULTI ",'placeholder_visible':false}", "unsupported_flag",
      "/placeholder_visible" },
    { "its visibility in a text", TEXT ",'placeholder_visible':false}", NULL, NULL },
    { "defaults in a text", TEXT ",'default_selection_ids':['a']}", "unsupported_flag",
      "/default_selection_ids" },
    { "no defaults in a text", TEXT ",'default_selection_ids':[]}", NULL, NULL },
    { "minimum in single", SINGLE ",'min_selections':2}", "unsupported_flag", "/min_selections" },
    { "minimum in single as it is anyway", SINGLE ",'min_selections':1}", NULL, NULL },
    { "minimum in a text", TEXT ",'min_selections':1}", "unsupported_flag", "/min_selections" },
    { "minimum in a text as it is anyway", TEXT ",'min_selections':0}", NULL, NULL },
    { "maximum in single", SINGLE ",'max_selections':2}", "unsupported_flag", "/max_selections" },
    { "maximum in single as it is anyway", SINGLE ",'max_selections':1}", NULL, NULL },
    { "a maximum of nothing", MULTI ",'max_selections':0}", "out_of_range", "/max_selections" },
    { "maximum in a text", TEXT ",'max_selections':1}", "unsupported_flag", "/max_selections" },
    { "sending at once in a text", TEXT ",'single_submit_mode':true}", "unsupported_flag",
      "/single_submit_mode" },
    { "not sending at once in a text", TEXT ",'single_submit_mode':false}", NULL, NULL },

    { "the same id twice", WITH("{'id':'z','label':'A'}"), "duplicate_option_id", "/options/1/id" },
    { "the same id in another form",
      WITH("{'id':'caf\\u00e9','label':'A'},{'id':'cafe\\u0301','label':'B'}"),
      "duplicate_option_id", "/options/2/id" },
    { "ids differ by case", WITH("{'id':'Z','label':'A'}"), NULL, NULL },
    { "ids differ by a blank", WITH("{'id':'z ','label':'A'}"), NULL, NULL },
    { "the same label", WITH("{'id':'a','label':'Zeta'}"), "ambiguous_label", "/options/1/label" },
    { "a label with blanks around it", WITH("{'id':'a','label':' zeta '}"), "ambiguous_label",
      "/options/1/label" },
    { "labels with Cyrillic letters",
      WITH("{'id':'a','label':'Approve'},{'id':'b','label':'\\u0410pprove'}"), "ambiguous_label",
      "/options/2/label" },
    { "labels that share words", WITH("{'id':'a','label':'Zeta 2'}"), NULL, NULL },
    { "two recommended in single",
      HEAD "'selection_mode':'single','options':[" OPTION_A "," OPTION_B
           ",{'id':'c','label':'Gamma','recommended':true}]}",
      "too_many_recommended", "/options/2/recommended" },
    { "recommended false does not count",
      HEAD "'selection_mode':'single','options':[" OPTION_A
           ",{'id':'c','label':'Gamma','recommended':false}]}",
      NULL, NULL },
    { "two recommended in multi", WITH("{'id':'a','label':'A','recommended':true}"), NULL, NULL },

    { "a default", SINGLE ",'default_selection_ids':['b']}", NULL, NULL },
    { "an empty list of defaults", SINGLE ",'default_selection_ids':[]}", NULL, NULL },
    { "a default that is no option", MULTI ",'default_selection_ids':['a','c']}",
      "default_not_in_options", "/default_selection_ids/1" },
    { "a default that is empty", MULTI ",'default_selection_ids':['']}", "default_not_in_options",
      "/default_selection_ids/0" },
    { "a default by its label", MULTI ",'default_selection_ids':['Alpha']}",
      "default_not_in_options", "/default_selection_ids/0" },
    { "a default in another form",
      HEAD "'selection_mode':'multi','options':[{'id':'\\u00e9','label':'E','recommended':true}],"
           "'default_selection_ids':['e\\u0301']}",
      NULL, NULL },
    { "the same default twice", SINGLE ",'default_selection_ids':['a','a']}", "duplicate_default",
      "/default_selection_ids/1" },
    { "as many defaults as may be", MULTI ",'default_selection_ids':['b','a']}", NULL, NULL },
    { "fewer defaults than the minimum", MULTI ",'default_selection_ids':['a'],'min_selections':2}",
      NULL, NULL },
    { "two defaults in single", SINGLE ",'default_selection_ids':['a','b']}", "too_many_defaults",
      "/default_selection_ids" },
    { "more defaults than the maximum",
      HYBRID ",'default_selection_ids':['a','b'],'max_selections':1}", "too_many_defaults",
      "/default_selection_ids" },
    { "defaults of what is destructive",
      SINGLE ",'default_selection_ids':['a'],'destructive':true}", NULL, NULL },
    { "which are checked all the same", SINGLE ",'default_selection_ids':['c'],'destructive':true}",
      "default_not_in_options", "/default_selection_ids/0" },

    { "all must be chosen", MULTI ",'min_selections':2,'max_selections':2}", NULL, NULL },
    { "minimum 0", HYBRID ",'min_selections':0}", NULL, NULL },
    { "minimum below 0", HYBRID ",'min_selections':-1}", "out_of_range", "/min_selections" },
    { "maximum 0", MULTI ",'max_selections':0}", "out_of_range", "/max_selections" },
    { "maximum above the options", MULTI ",'max_selections':3}", "out_of_range",
      "/max_selections" },
    { "maximum beyond numbers", MULTI ",'max_selections':1e300}", "out_of_range",
      "/max_selections" },
    { "minimum above the options", HYBRID ",'min_selections':3}", "min_exceeds_options",
      "/min_selections" },
    { "minimum beyond numbers", HYBRID ",'min_selections':1e300}", "min_exceeds_options",
      "/min_selections" },
    { "minimum above the maximum", MULTI ",'min_selections':2,'max_selections':1}",
      "min_exceeds_max", "/min_selections" },
    { "minimum above maximum and options", MULTI ",'min_selections':3,'max_selections':2}",
      "min_exceeds_max", "/min_selections" },
    { "sending at once", MULTI ",'single_submit_mode':true}", NULL, NULL },
    { "sending at once with minimum 1", MULTI ",'single_submit_mode':true,'min_selections':1}",
      NULL, NULL },
    { "sending at once with minimum 2", HYBRID ",'single_submit_mode':true,'min_selections':2}",
      "unsupported_flag", "/single_submit_mode" },
    { "not at once with minimum 2", MULTI ",'single_submit_mode':false,'min_selections':2}", NULL,
      NULL },
    { "nothing recommended in hybrid", HEAD "'selection_mode':'hybrid','options':[" OPTION_B "]}",
      "no_recommended_option", "/options" },
    { "nothing recommended in multi",
      HEAD "'selection_mode':'multi','options':[{'id':'a','label':'A','recommended':false}]}",
      "no_recommended_option", "/options" },

    { "order: unknown before missing", "{'x':1}", "unknown_property", "/x" },
    { "order: unknown inside before missing", "{'options':[{'x':1}]}", "unknown_property",
      "/options/0/x" },
    { "order: unknown outside before inside", "{'options':[{'x':1}],'y':1}", "unknown_property",
      "/y" },
    { "order: the first unknown one", "{'y':1,'x':1}", "unknown_property", "/y" },
    { "order: presence and type go together", "{'title':1}", "bad_type", "/title" },
    { "order: schema, not as received", "{'prompt':1,'title':1}", "bad_type", "/title" },
    { "order: type before limits", "{'title':''," PROMPT "'selection_mode':1," AB "}", "bad_type",
      "/selection_mode" },
    { "order: missing before limits", "{'title':''," PROMPT AB "}", "missing_property",
      "/selection_mode" },
    { "order: enum before limits", "{'title':''," PROMPT "'selection_mode':'x'," AB "}", "bad_enum",
      "/selection_mode" },
    { "order: limits before rules", SINGLE ",'placeholder':'<A*201>'}", "too_long",
      "/placeholder" },
    { "order: limits of the last before rules of the first",
      TEXT "," AB ",'idempotency_key':'<A*129>'}", "too_long", "/idempotency_key" },
    { "order: limits before conflicts", "{'timeout_seconds':0," ID "}", "out_of_range",
      "/timeout_seconds" },
    { "order: conflicts before other rules", TEXT "," AB ",'wait_seconds':1}",
      "conflicting_arguments", "/wait_seconds" },
    { "order: type of an option before the next argument's",
      HEAD "'selection_mode':'single','options':[{'id':1,'label':'A'}],'interface':1}", "bad_type",
      "/options/0/id" },
    { "order: rules before no_recommended_option",
      HEAD "'selection_mode':'multi','options':[" OPTION_B "],'max_selections':2}", "out_of_range",
      "/max_selections" },
    { "order: no_recommended_option before too_short",
      "{" TITLE "'prompt':'Which?','selection_mode':'multi','options':[" OPTION_B "]}",
      "no_recommended_option", "/options" },
    { "order: rules before too_short",
      "{" TITLE "'prompt':'Which?','selection_mode':'multi'," AB ",'max_selections':3}",
      "out_of_range", "/max_selections" },
    { "order: empty before too_short",
      "{" TITLE "'prompt':' ','selection_mode':'multi','options':[" OPTION_B "]}", "empty_text",
      "/prompt" },
    { "order: the maximum's own bound first", MULTI ",'min_selections':4,'max_selections':3}",
      "out_of_range", "/max_selections" },
};

/* What the agent must do stands in the message. */
static const struct message_case {
    const char *arguments, *says;
} messages[] = {
    { "{}", "title is missing: One line: what to decide." },
    { "{'title':1}", "must be a string, not an integer" },
    { "[]", "must be an object, not an array" },
    { "{'x':1}", "Known properties: title, prompt, selection_mode, options, placeholder" },
    { "{'x':1}", "wait_seconds, idempotency_key" },
    { HEAD "'selection_mode':'radio'," AB "}",
      "'radio'; it must be one of: single, multi, text_input, hybrid" },
    { SINGLE ",'timeout_seconds':0}", "must be from 1 to 2592000" },
    { MULTI ",'min_selections':3}", "number of options (2)" },
    { HEAD "'selection_mode':'single','options':[]}", "has 0 items; it must have 1 to 100" },
    { "{'title':'<A*201>'," PROMPT "'selection_mode':'single'," AB "}",
      "has 201 characters; the maximum is 200" },
    { "{" TITLE "'prompt':'Which one?','selection_mode':'single'," AB "}",
      "has 10 visible characters; at least 20 are required: describe the task" },
};

/* <what*times> */
static const char *repeat(const char *at, struct text *out)
{
    const char *star = strchr(at, '*');
    size_t times = strtoul(star + 1, NULL, 10);

    while (times--) {
        for (const char *byte = at + 1; byte < star; byte++)
            text_add_char(out, *byte == '\'' ? '"' : *byte);
    }
    return strchr(star, '>');
}

static struct json *parse(const char *quoted)
{
    struct text bytes = { 0 };
    struct json *value = NULL;
    struct error err = { 0 };

    for (const char *at = quoted; *at; at++) {
        if (*at == '<')
            at = repeat(at, &bytes);
        else
            text_add_char(&bytes, *at == '\'' ? '"' : *at);
    }
    if (!json_parse(bytes.bytes, bytes.used, &value, &err))
        fail_msg("%s: %.200s", err.message, bytes.bytes);
    text_release(&bytes);
    return value;
}

static void test_case(void **state)
{
    const struct rule_case *wanted = *state;
    struct json *arguments = parse(wanted->arguments);
    struct ask_call call;
    struct error err = { 0 };
    bool ok = arguments_check(&tool_provide_choice, arguments, &call, &err);

    if (wanted->code) {
        assert_string_equal(error_name(err.code), wanted->code);
        assert_string_equal(err.path, wanted->path);
        assert_false(ok);
        assert_null(call.form.fields);
        assert_null(call.arguments_json);
    } else {
        assert_string_equal(err.message, "");
        assert_true(ok);
    }
    ask_call_release(&call);
    json_free(arguments);
}

static void test_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
        struct json *arguments = parse(messages[i].arguments);
        struct ask_call call;
        struct error err = { 0 };

        assert_false(arguments_check(&tool_provide_choice, arguments, &call, &err));
        if (!strstr(err.message, messages[i].says))
            fail_msg("'%s' lacks '%s'", err.message, messages[i].says);
        json_free(arguments);
    }
}

int main(void)
{
    static struct CMUnitTest tests[ARRAY_LEN(cases) + 1];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        tests[i] = (struct CMUnitTest){ .name = cases[i].name,
                                        .test_func = test_case,
                                        .initial_state = (void *)&cases[i] };
    tests[ARRAY_LEN(cases)] = (struct CMUnitTest)cmocka_unit_test(test_messages);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
