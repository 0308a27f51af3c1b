/*
 * Every rule of the elicit tools at its boundary: what is accepted, what is refused and where;
 * every case of the corpus; the form a good call comes to. Proves: R2.1, R4.1, R4.4, R4.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/tools/arguments.h"
#include "core/visible_text.h"

/* Written with single quotes; <A*200> stands for 200 times A. */
#define M         "{'message':'Say'"
#define FIELD(x)  M ",'requestedSchema':{'type':'object','properties':{'f':" x "}}}"
#define TEXT(x)   FIELD("{'type':'string'" x "}")
#define NUMBER(x) FIELD("{'type':'number'" x "}")
#define ARRAY(x)  FIELD("{'type':'array','items':{'type':'string','enum':['a','b']}" x "}")
#define SCHEMA(x) M ",'requestedSchema':{" x "}}"
#define AT_F      "/requestedSchema/properties/f"
#define ENUM(x)   M ",'enum':['a','b']" x "}"
#define NO_SCHEMA "unsupported_schema"
#define FIELDS_32 "<'%':{'type':'boolean'},*31>'z':{'type':'boolean'}"

static const struct rule_case {
    const char *tool, *arguments;
    const char *code, *path; /* NULL: accepted */
} cases[] = {
    { "elicit_choice", M ",'options':[{'value':'a','label':'A'}]}", NULL, NULL },
    { "elicit_choice", ENUM(""), NULL, NULL },
    { "elicit_choice", ENUM(",'enumNames':['A','B']"), NULL, NULL },
    { "elicit_choice", ENUM(",'enumLabels':['A','B']"), NULL, NULL },
    { "elicit_choice",
      ENUM(",'title':'T','timeout_seconds':1,'interface':'web',"
           "'idempotency_key':'k'"),
      NULL, NULL },
    { "elicit_choice", ENUM(",'wait_for_previous':true"), NULL, NULL },
    { "elicit_choice", "{}", "missing_property", "/message" },
    { "elicit_choice", M "}", "missing_property", "/options" },
    { "elicit_choice", "[]", "bad_type", "" },
    { "elicit_choice", ENUM(",'session_id':'abcdefghijklmnopqrstuvwxy2'"), "unknown_property",
      "/session_id" },
    { "elicit_choice", "{'message':' \\n','enum':['a']}", "empty_text", "/message" },
    { "elicit_choice", "{'message':'<A*4000>','enum':['a']}", NULL, NULL },
    { "elicit_choice", "{'message':'<A*4001>','enum':['a']}", "too_long", "/message" },
    { "elicit_choice", ENUM(",'title':'<A*201>'"), "too_long", "/title" },
    { "elicit_choice", ENUM(",'timeout_seconds':0"), "out_of_range", "/timeout_seconds" },
    { "elicit_choice", ENUM(",'interface':'fax'"), "bad_enum", "/interface" },
    { "elicit_choice", M ",'options':[]}", "too_few_options", "/options" },
    { "elicit_choice", M ",'enum':[]}", "missing_property", "/options" },
    { "elicit_choice", M ",'enum':null,'options':[]}", "too_few_options", "/options" },
    { "elicit_choice", ENUM(",'options':[],'enumNames':[],'enumLabels':[],'title':''"), NULL,
      NULL },
    { "elicit_choice",
      M ",'options':[{'value':'a','label':'A','destructive':false}],'enum':[],'enumNames':null,"
        "'interface':'','timeout_seconds':null,'idempotency_key':''}",
      NULL, NULL },
    { "elicit_choice", M ",'options':[{'value':'a','label':'A','destructive':null}]}", "bad_type",
      "/options/0/destructive" },
    { "elicit_choice", M ",'enum':[<'a',*100>'z']}", "too_many_options", "/enum" },
    { "elicit_choice", M ",'enum':'a'}", "bad_type", "/enum" },
    { "elicit_choice", M ",'enum':['a',1]}", "bad_type", "/enum/1" },
    { "elicit_choice", M ",'enum':['a',{'x':1}]}", "bad_type", "/enum/1" },
    { "elicit_choice", M ",'enum':['a','']}", "empty_text", "/enum/1" },
    { "elicit_choice", M ",'enum':['a\\u0000']}", "nul_character", "/enum/0" },
    { "elicit_choice", M ",'enum':['<A*128>']}", NULL, NULL },
    { "elicit_choice", M ",'enum':['<A*129>']}", "too_long", "/enum/0" },
    { "elicit_choice", M ",'enum':['a','a']}", "duplicate_option_id", "/enum/1" },
    { "elicit_choice", M ",'enum':['a','A']}", "ambiguous_label", "/enum/1" },
    { "elicit_choice", ENUM(",'enumNames':['A']"), "label_count_mismatch", "/enumNames" },
    { "elicit_choice", ENUM(",'enumLabels':['A','B','C']"), "label_count_mismatch", "/enumLabels" },
    { "elicit_choice", ENUM(",'enumNames':['A','A']"), "ambiguous_label", "/enumNames/1" },
    { "elicit_choice", ENUM(",'enumLabels':['A','a']"), "ambiguous_label", "/enumLabels/1" },
    { "elicit_choice", ENUM(",'enumNames':['A','<B*201>']"), "too_long", "/enumNames/1" },
    { "elicit_choice", ENUM(",'enumNames':['A','B'],'enumLabels':['A','B']"),
      "conflicting_arguments", "/enumLabels" },
    { "elicit_choice", ENUM(",'options':[{'value':'a','label':'A'}]"), "conflicting_arguments",
      "/enum" },
    { "elicit_choice", M ",'options':[{'value':'a','label':'A'}],'enumNames':['A']}",
      "unsupported_flag", "/enumNames" },
    { "elicit_choice", M ",'options':[{'value':'a','label':'A'}],'enumLabels':['A']}",
      "unsupported_flag", "/enumLabels" },
    { "elicit_choice", M ",'options':[{'value':'a'}]}", "missing_property", "/options/0/label" },
    { "elicit_choice", M ",'options':[{'value':'a','label':'A','x':1}]}", "unknown_property",
      "/options/0/x" },
    { "elicit_choice", M ",'options':[{'value':'a','label':'A'},{'value':'b','label':'a'}]}",
      "ambiguous_label", "/options/1/label" },

    { "elicit_input", M "}", NULL, NULL },
    { "elicit_input", M ",'field_name':'tag','minLength':2,'maxLength':2,'format':'email'}", NULL,
      NULL },
    { "elicit_input", M ",'type':'integer','minimum':1,'maximum':1}", NULL, NULL },
    { "elicit_input", M ",'type':'text'}", "bad_enum", "/type" },
    { "elicit_input", M ",'format':'password'}", "bad_enum", "/format" },
    { "elicit_input", M ",'field_name':''}", NULL, NULL },
    { "elicit_input", M ",'field_name':' '}", "empty_text", "/field_name" },
    { "elicit_input",
      M ",'type':'number','minLength':0,'maxLength':null,'format':'','pattern':'','secret':null}",
      NULL, NULL },
    { "elicit_input", M ",'field_name':'<A*64>'}", NULL, NULL },
    { "elicit_input", M ",'field_name':'<A*65>'}", "too_long", "/field_name" },
    { "elicit_input", M ",'field_name':'api_key'}", "sensitive_input_refused", "/field_name" },
    { "elicit_input", M ",'secret':true}", "sensitive_input_refused", "/secret" },
    { "elicit_input", M ",'secret':false}", NULL, NULL },
    { "elicit_input", M ",'field_name':'action'}", "conflicting_arguments", "/field_name" },
    { "elicit_input", M ",'pattern':'^a$'}", "unsupported_flag", "/pattern" },
    { "elicit_input", M ",'pattern':null}", NULL, NULL },
    { "elicit_input", M ",'minimum':1}", "unsupported_flag", "/minimum" },
    { "elicit_input", M ",'maximum':1}", "unsupported_flag", "/maximum" },
    { "elicit_input", M ",'type':'number','minLength':1}", "unsupported_flag", "/minLength" },
    { "elicit_input", M ",'type':'number','maxLength':1}", "unsupported_flag", "/maxLength" },
    { "elicit_input", M ",'type':'number','format':'date'}", "unsupported_flag", "/format" },
    { "elicit_input", M ",'minLength':3,'maxLength':2}", "min_exceeds_max", "/minLength" },
    { "elicit_input", M ",'minLength':-1}", "out_of_range", "/minLength" },
    { "elicit_input", M ",'maxLength':0}", "out_of_range", "/maxLength" },
    { "elicit_input", M ",'maxLength':65537}", "out_of_range", "/maxLength" },
    { "elicit_input", M ",'type':'number','minimum':1.5,'maximum':1}", "min_exceeds_max",
      "/minimum" },
    { "elicit_input", M ",'type':'number','minimum':'1'}", "bad_type", "/minimum" },

    { "elicit_confirm", M "}", NULL, NULL },
    { "elicit_confirm", M ",'destructive':true}", NULL, NULL },
    { "elicit_confirm", M ",'default':false}", "unsupported_flag", "/default" },
    { "elicit_confirm", M ",'default':null}", NULL, NULL },
    { "elicit_confirm", M ",'destructive':null}", "bad_type", "/destructive" },
    { "elicit_input", M ",'destructive':null}", "unknown_property", "/destructive" },
    { "elicit_form",
      M
      ",'destructive':null,'requestedSchema':{'type':'object','properties':{'f':{'type':'boolean'}}"
      "}}",
      "unknown_property", "/destructive" },
    { "elicit_form", FIELD("{'type':'boolean','title':null,'destructive':null}"), NO_SCHEMA,
      AT_F "/destructive" },
    { "elicit_confirm", M ",'destructive':'yes'}", "bad_type", "/destructive" },
    { "elicit_confirm", M ",'confirmed':true}", "unknown_property", "/confirmed" },

    { "elicit_number", M "}", NULL, NULL },
    { "elicit_number", M ",'minimum':40,'maximum':200,'step':1,'unit':'BPM'}", NULL, NULL },
    { "elicit_number", M ",'minimum':1}", NULL, NULL },
    { "elicit_number", M ",'style':'rating'}", NULL, NULL },
    { "elicit_number", M ",'style':'rating','minimum':0,'maximum':10}", NULL, NULL },
    { "elicit_number", M ",'style':'stars'}", "bad_enum", "/style" },
    { "elicit_number", M ",'style':'slider'}", "missing_property", "/minimum" },
    { "elicit_number", M ",'style':'slider','minimum':1}", "missing_property", "/maximum" },
    { "elicit_number", M ",'minimum':2,'maximum':1}", "min_exceeds_max", "/minimum" },
    { "elicit_number", M ",'style':'rating','minimum':6}", "min_exceeds_max", "/minimum" },
    { "elicit_number", M ",'step':0}", "out_of_range", "/step" },
    { "elicit_number", M ",'step':-1}", "out_of_range", "/step" },
    { "elicit_number", M ",'style':'rating','step':2}", "unsupported_flag", "/step" },
    { "elicit_number", M ",'style':'rating','step':1}", NULL, NULL },
    { "elicit_number", M ",'minimum':null,'maximum':null,'step':null,'unit':'','style':''}", NULL,
      NULL },
    { "elicit_form",
      M ",'requestedSchema':{'type':'object','required':null,'properties':{'f':{'type':'string',"
        "'title':null,'enum':null,'minLength':null,'format':null,'default':null}}}}",
      NULL, NULL },
    { "elicit_form", M ",'requestedSchema':{'type':'object','properties':{'f':null}}}", NO_SCHEMA,
      AT_F },
    { "elicit_form",
      FIELD("{'type':'string','oneOf':[{'const':'a','title':'A'},{'const':null,'title':'B'}]}"),
      NO_SCHEMA, AT_F "/oneOf/1/const" },
    { "elicit_number", M ",'style':'rating','maximum':11}", "out_of_range", "/maximum" },
    { "elicit_number", M ",'style':'rating','maximum':0}", "out_of_range", "/maximum" },
    { "elicit_number", M ",'style':'rating','maximum':4.5}", "out_of_range", "/maximum" },
    { "elicit_number", M ",'style':'rating','minimum':-1}", "out_of_range", "/minimum" },
    { "elicit_number", M ",'unit':'<A*33>'}", "too_long", "/unit" },

    { "elicit_form", M "}", "missing_property", "/requestedSchema" },
    { "elicit_form", M ",'requestedSchema':[]}", "bad_type", "/requestedSchema" },
    { "elicit_form", TEXT(""), NULL, NULL },
    { "elicit_form",
      SCHEMA("'$schema':'x','type':'object','properties':{'f':{'type':'boolean'}},"
             "'required':['f']"),
      NULL, NULL },
    { "elicit_form", SCHEMA(""), NO_SCHEMA, "/requestedSchema/type" },
    { "elicit_form", SCHEMA("'type':'array'"), NO_SCHEMA, "/requestedSchema/type" },
    { "elicit_form", SCHEMA("'type':'object'"), NO_SCHEMA, "/requestedSchema/properties" },
    { "elicit_form", SCHEMA("'type':'object','properties':{}"), NO_SCHEMA,
      "/requestedSchema/properties" },
    { "elicit_form", SCHEMA("'type':'object','properties':{" FIELDS_32 "}"), NULL, NULL },
    { "elicit_form", SCHEMA("'type':'object','properties':{'y':{'type':'boolean'}," FIELDS_32 "}"),
      NO_SCHEMA, "/requestedSchema/properties" },
    { "elicit_form", SCHEMA("'type':'object','properties':{'f':true}"), NO_SCHEMA, AT_F },
    { "elicit_form", SCHEMA("'type':'object','properties':{'':{'type':'boolean'}}"), "empty_text",
      "/requestedSchema/properties/" },
    { "elicit_form", SCHEMA("'type':'object','properties':{'a/b':{'type':'null'}}"), NO_SCHEMA,
      "/requestedSchema/properties/a~1b/type" },
    { "elicit_form", SCHEMA("'type':'object','properties':{'<A*65>':{'type':'boolean'}}"),
      "too_long",
      "/requestedSchema/properties/"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
    { "elicit_form",
      SCHEMA("'type':'object','properties':{'f':{'type':'boolean'}},'required':['g']"), NO_SCHEMA,
      "/requestedSchema/required/0" },
    { "elicit_form", SCHEMA("'type':'object','properties':{},'required':'f'"), NO_SCHEMA,
      "/requestedSchema/required" },
    { "elicit_form",
      SCHEMA("'type':'object','properties':{'f':{'type':'boolean'}},'additionalProperties':false"),
      NO_SCHEMA, "/requestedSchema/additionalProperties" },
    { "elicit_form", FIELD("{}"), NO_SCHEMA, AT_F "/type" },
    { "elicit_form", FIELD("{'$ref':'#'}"), NO_SCHEMA, AT_F "/$ref" },
    { "elicit_form", FIELD("{'type':1}"), NO_SCHEMA, AT_F "/type" },
    { "elicit_form", FIELD("{'type':'object','properties':{}}"), NO_SCHEMA, AT_F "/type" },
    { "elicit_form", TEXT(",'pattern':'a'"), NO_SCHEMA, AT_F "/pattern" },
    { "elicit_form", TEXT(",'format':'hostname'"), NO_SCHEMA, AT_F "/format" },
    { "elicit_form", TEXT(",'title':'<A*201>'"), "too_long", AT_F "/title" },
    { "elicit_form", TEXT(",'minLength':1,'maxLength':3,'format':'date-time'"), NULL, NULL },
    { "elicit_form", TEXT(",'minLength':4,'maxLength':3"), "min_exceeds_max", AT_F "/minLength" },
    { "elicit_form", TEXT(",'minLength':1.5"), NO_SCHEMA, AT_F "/minLength" },
    { "elicit_form", TEXT(",'default':'abc','maxLength':3"), NULL, NULL },
    { "elicit_form", TEXT(",'default':'abcd','maxLength':3"), "too_long", AT_F "/default" },
    { "elicit_form", TEXT(",'default':'a','minLength':3"), "too_short", AT_F "/default" },
    { "elicit_form", TEXT(",'default':'a','format':'email'"), "bad_format", AT_F "/default" },
    { "elicit_form", TEXT(",'default':'','minLength':3"), NULL, NULL },
    { "elicit_form", TEXT(",'default':1"), NO_SCHEMA, AT_F "/default" },
    { "elicit_form", TEXT(",'secret':true"), "sensitive_input_refused", AT_F },
    { "elicit_form", TEXT(",'secret':false"), NULL, NULL },
    { "elicit_form", TEXT(",'title':'Your password'"), "sensitive_input_refused", AT_F },
    { "elicit_form", FIELD("{'type':'boolean','title':'Ask for a password?'}"), NULL, NULL },
    { "elicit_form", FIELD("{'type':'boolean','secret':true}"), "sensitive_input_refused", AT_F },
    { "elicit_form", SCHEMA("'type':'object','properties':{'apiToken':{'type':'string'}}"),
      "sensitive_input_refused", "/requestedSchema/properties/apiToken" },
    { "elicit_form", NUMBER(",'minimum':1,'maximum':2,'default':1.5"), NULL, NULL },
    { "elicit_form", NUMBER(",'minimum':3,'maximum':2"), "min_exceeds_max", AT_F "/minimum" },
    { "elicit_form", NUMBER(",'minimum':1,'default':0"), "out_of_range", AT_F "/default" },
    { "elicit_form", NUMBER(",'multipleOf':2"), NO_SCHEMA, AT_F "/multipleOf" },
    { "elicit_form", FIELD("{'type':'integer','default':1.5}"), "out_of_range", AT_F "/default" },
    { "elicit_form", FIELD("{'type':'boolean','default':'yes'}"), NO_SCHEMA, AT_F "/default" },
    { "elicit_form", TEXT(",'enum':['a','b'],'default':'b'"), NULL, NULL },
    { "elicit_form", TEXT(",'enum':['a','b'],'default':'c'"), "default_not_in_options",
      AT_F "/default" },
    { "elicit_form", TEXT(",'enum':['a','a']"), "duplicate_option_id", AT_F "/enum/1" },
    { "elicit_form", TEXT(",'enum':['a','A']"), "ambiguous_label", AT_F "/enum/1" },
    { "elicit_form", TEXT(",'enum':[]"), "too_few_options", AT_F "/enum" },
    { "elicit_form", TEXT(",'enum':[1]"), NO_SCHEMA, AT_F "/enum/0" },
    { "elicit_form", TEXT(",'enum':['a'],'minLength':1"), NO_SCHEMA, AT_F "/minLength" },
    { "elicit_form", FIELD("{'type':'number','enum':[1,2]}"), NO_SCHEMA, AT_F "/enum" },
    { "elicit_form", TEXT(",'enum':['a','b'],'enumNames':['A']"), "label_count_mismatch",
      AT_F "/enumNames" },
    { "elicit_form", TEXT(",'enum':['a','b'],'enumNames':['A','A']"), "ambiguous_label",
      AT_F "/enumNames/1" },
    { "elicit_form", TEXT(",'enum':['a','b'],'enumLabels':['A','B']"), NULL, NULL },
    { "elicit_form", TEXT(",'enum':['a','b'],'enumLabels':['A']"), "label_count_mismatch",
      AT_F "/enumLabels" },
    { "elicit_form", TEXT(",'enum':['a','b'],'enumLabels':['A','A']"), "ambiguous_label",
      AT_F "/enumLabels/1" },
    { "elicit_form", TEXT(",'enum':['a','b'],'enumNames':['A','B'],'enumLabels':['A','B']"),
      "conflicting_arguments", AT_F "/enumLabels" },
    { "elicit_form", TEXT(",'oneOf':[{'const':'a','title':'A'},{'const':'b','title':'B'}]"), NULL,
      NULL },
    { "elicit_form", TEXT(",'oneOf':[{'const':'a'}]"), NO_SCHEMA, AT_F "/oneOf/0/title" },
    { "elicit_form", TEXT(",'oneOf':[{'const':1,'title':'A'}]"), NO_SCHEMA, AT_F "/oneOf/0/const" },
    { "elicit_form", TEXT(",'oneOf':[{'const':'a','title':'A'},{'const':'a','title':'B'}]"),
      "duplicate_option_id", AT_F "/oneOf/1/const" },
    { "elicit_form", TEXT(",'oneOf':[{'const':'a','title':'A'},{'const':'b','title':'a'}]"),
      "ambiguous_label", AT_F "/oneOf/1/title" },
    { "elicit_form", ARRAY(""), NULL, NULL },
    { "elicit_form", ARRAY(",'minItems':1,'maxItems':9,'default':['b','a']"), NULL, NULL },
    { "elicit_form", ARRAY(",'minItems':2,'maxItems':1"), "min_exceeds_max", AT_F "/minItems" },
    { "elicit_form", ARRAY(",'minItems':3"), "min_exceeds_options", AT_F "/minItems" },
    { "elicit_form", ARRAY(",'maxItems':0"), "out_of_range", AT_F "/maxItems" },
    { "elicit_form", ARRAY(",'maxItems':1,'default':['a','b']"), "too_many_defaults",
      AT_F "/default" },
    { "elicit_form", ARRAY(",'default':['a','a']"), "duplicate_default", AT_F "/default/1" },
    { "elicit_form", ARRAY(",'default':['c']"), "default_not_in_options", AT_F "/default/0" },
    { "elicit_form", ARRAY(",'uniqueItems':true"), NO_SCHEMA, AT_F "/uniqueItems" },
    { "elicit_form", FIELD("{'type':'array'}"), NO_SCHEMA, AT_F "/items" },
    { "elicit_form", FIELD("{'type':'array','items':{'type':'string'}}"), NO_SCHEMA,
      AT_F "/items" },
    { "elicit_form", FIELD("{'type':'array','items':{'enum':['a']}}"), NO_SCHEMA,
      AT_F "/items/type" },
    { "elicit_form", FIELD("{'type':'array','items':{'type':'number','enum':['a']}}"), NO_SCHEMA,
      AT_F "/items/type" },
    { "elicit_form", FIELD("{'type':'array','items':{'anyOf':[{'const':'a','title':'A'}]}}"), NULL,
      NULL },
    { "elicit_form",
      FIELD("{'type':'array','items':{'type':'string','enum':['a'],'anyOf':[{'const':'a',"
            "'title':'A'}]}}"),
      NO_SCHEMA, AT_F "/items" },
    { "elicit_form",
      FIELD("{'type':'array','items':{'anyOf':[{'const':'a','title':'A'},{'const':'b',"
            "'title':'A'}]}}"),
      "ambiguous_label", AT_F "/items/anyOf/1/title" },
    { "elicit_form", FIELD("{'type':'array','items':{'type':'string','enum':['a','a']}}"),
      "duplicate_option_id", AT_F "/items/enum/1" },
};

/* Single quotes become double ones, <X*N> N times X with % as its number. */
static char *expand(const char *pattern)
{
    struct text out = { 0 };

    for (const char *at = pattern; *at; at++) {
        const char *star = *at == '<' ? strchr(at, '*') : NULL;
        long times = star ? strtol(star + 1, NULL, 10) : 0;

        for (long i = 0; i < times; i++) {
            for (const char *sign = at + 1; sign < star; sign++) {
                if (*sign == '%')
                    text_add_format(&out, "%ld", i);
                else
                    text_add_char(&out, *sign == '\'' ? '"' : *sign);
            }
        }
        if (star)
            at = strchr(star, '>');
        else
            text_add_char(&out, *at == '\'' ? '"' : *at);
    }
    return text_take(&out);
}

static void assert_clean(const char *shown)
{
    struct text again = { 0 };

    visible_text(shown, strlen(shown), VISIBLE_ONE_LINE, &again);
    assert_string_equal(text_string(&again), shown);
    text_release(&again);
}

static bool check(const char *tool, const char *arguments, struct ask_call *ret_call,
                  struct error *err)
{
    struct json *json = NULL;
    bool ok;

    if (!json_parse(arguments, strlen(arguments), &json, err))
        fail_msg("not JSON: %s", arguments);
    assert_false(!ask_tool_find(tool));
    ok = arguments_check(ask_tool_find(tool), json, ret_call, err);
    json_free(json);
    return ok;
}

static void expect_outcome(const char *tool, const char *arguments, const char *code,
                           const char *path)
{
    struct ask_call call = { 0 }, again = { 0 };
    struct error err = { 0 };

    if (check(tool, arguments, &call, &err) != !code)
        fail_msg("%s %.200s: %s at '%s' %s", tool, arguments, error_name(err.code), err.path,
                 err.message);
    if (code && (strcmp(error_name(err.code), code) != 0 || strcmp(err.path, path) != 0))
        fail_msg("%s %.200s: %s at '%s', not %s at '%s'", tool, arguments, error_name(err.code),
                 err.path, code, path);
    assert_int_equal(err.message[0] != '\0', code != NULL);
    assert_clean(err.message);
    assert_clean(err.path);
    if (code)
        assert_null(call.form.fields);
    assert_int_equal(check(tool, arguments, &again, NULL), !code); /* the error is optional */
    ask_call_release(&again);
    ask_call_release(&call);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *arguments = expand(cases[i].arguments);

        expect_outcome(cases[i].tool, arguments, cases[i].code, cases[i].path);
        free(arguments);
    }
}

static struct json *read_corpus(void)
{
    FILE *file = fopen(TEST_CORPUS "/ask_inputs.json", "r");
    struct text bytes = { 0 };
    struct json *corpus = NULL;
    char part[4096];
    size_t got;

    assert_non_null(file);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        text_add(&bytes, part, got);
    fclose(file);
    assert_true(json_parse(bytes.bytes, bytes.used, &corpus, NULL));
    text_release(&bytes);
    return corpus;
}

static void test_corpus(void **state)
{
    struct json *corpus = read_corpus();
    const struct json *list = json_member(corpus, "cases");
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json *test = json_item(list, i), *expect = json_member(test, "expect");
        const char *tool = json_member_text(test, "tool"), *code = json_member_text(expect, "code");
        char *arguments = json_encode(json_member(test, "arguments"));

        if (strncmp(tool, "elicit_", 7) == 0) {
            bool is_good = strcmp(code, "no_human_channel") == 0; /* for the engine to find */

            expect_outcome(tool, arguments, is_good ? NULL : code,
                           json_member_text(expect, "path"));
            count++;
        }
        free(arguments);
    }
    assert_int_equal(count, 11);
    json_free(corpus);
}

/* What good calls come to, as the store keeps it; it must read back as itself. */
static const struct {
    const char *tool, *arguments, *form;
} forms[] = {
    { "elicit_choice", M ",'options':[{'value':'a','label':'A'}],'title':'T'}",
      "{'version':1,'title':'T','prompt':'Say','fields':[{'name':'choice','kind':'single',"
      "'required':true,'options':[{'id':'a','label':'A'}],'min_selections':1,'max_selections':1}],"
      "'allow_annotations':true,'single_submit':true}" },
    { "elicit_choice", M ",'enum':['a'],'enumLabels':['A']}",
      "{'version':1,'title':'Say','prompt':'Say','fields':[{'name':'choice','kind':'single',"
      "'required':true,'options':[{'id':'a','label':'A'}],'min_selections':1,'max_selections':1}],"
      "'allow_annotations':true,'single_submit':true}" },
    { "elicit_input", "{'message':'\\n \\nOne\\nTwo','minLength':1,'maxLength':9,'format':'uri'}",
      "{'version':1,'title':'One','prompt':'\\n \\nOne\\nTwo','fields':[{'name':'input',"
      "'kind':'text','required':true,'min_chars':1,'max_chars':9,'format':'uri'}],"
      "'allow_annotations':true}" },
    { "elicit_input", "{'message':'<x*201>','field_name':'n','type':'integer','maximum':0}",
      "{'version':1,'title':'<x*199>\xe2\x80\xa6','prompt':'<x*201>','fields':[{'name':'n',"
      "'kind':'number','required':true,'integer':true,'maximum':0}],'allow_annotations':true}" },
    { "elicit_confirm", M ",'destructive':true}",
      "{'version':1,'title':'Say','prompt':'Say','fields':[{'name':'confirmed','kind':'confirm',"
      "'required':true}],'allow_annotations':true,'destructive':true}" },
    { "elicit_number", M ",'minimum':40,'maximum':200,'step':0.5,'unit':'BPM'}",
      "{'version':1,'title':'Say','prompt':'Say','fields':[{'name':'value','kind':'number',"
      "'required':true,'minimum':40,'maximum':200,'step':0.5,'unit':'BPM','style':'slider'}],"
      "'allow_annotations':true}" },
    { "elicit_number", M ",'style':'rating'}",
      "{'version':1,'title':'Say','prompt':'Say','fields':[{'name':'value','kind':'number',"
      "'required':true,'integer':true,'minimum':1,'maximum':5,'style':'rating'}],"
      "'allow_annotations':true}" },
    { "elicit_number", M ",'style':'field','minimum':1,'maximum':2}",
      "{'version':1,'title':'Say','prompt':'Say','fields':[{'name':'value','kind':'number',"
      "'required':true,'minimum':1,'maximum':2}],'allow_annotations':true}" },
    { "elicit_form",
      SCHEMA("'type':'object','properties':{'choice':{'type':'string','enum':['A','B'],"
             "'enumLabels':['Variation A','Variation B']}},'required':['choice']"),
      "{'version':1,'title':'Say','prompt':'Say','fields':[{'name':'choice','kind':'single',"
      "'required':true,'options':[{'id':'A','label':'Variation A'},{'id':'B',"
      "'label':'Variation B'}],'min_selections':1,'max_selections':1}],"
      "'allow_annotations':true}" },
    { "elicit_form",
      SCHEMA("'type':'object','properties':{"
             "'t':{'type':'string','title':'T','description':'D','default':'x'},"
             "'n':{'type':'number','minimum':0,'maximum':1,'default':0},"
             "'yes':{'type':'boolean','default':true},'no':{'type':'boolean','default':false},"
             "'e':{'type':'string','enum':['a','b'],'enumNames':['A','B'],'default':'b'},"
             "'m':{'type':'array','items':{'anyOf':[{'const':'a','title':'A'}]},'maxItems':7}},"
             "'required':['t','m']"),
      "{'version':1,'title':'Say','prompt':'Say','fields':["
      "{'name':'t','label':'T','description':'D','kind':'text','required':true,"
      "'default_text':'x'},"
      "{'name':'n','kind':'number','minimum':0,'maximum':1,'style':'slider','default_number':0},"
      "{'name':'yes','kind':'confirm','default_confirm':'yes'},"
      "{'name':'no','kind':'confirm','default_confirm':'no'},"
      "{'name':'e','kind':'single','options':[{'id':'a','label':'A'},{'id':'b','label':'B',"
      "'default':true}],'min_selections':1,'max_selections':1},"
      "{'name':'m','kind':'multi','required':true,'options':[{'id':'a','label':'A'}],"
      "'max_selections':1}],'allow_annotations':true}" },
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        char *arguments = expand(forms[i].arguments), *wanted = expand(forms[i].form);
        struct ask_call call = { 0 };
        struct form again = { 0 };
        struct error err = { 0 };
        struct text first = { 0 }, second = { 0 };

        if (!check(forms[i].tool, arguments, &call, &err))
            fail_msg("%s: %s at '%s'", forms[i].tool, error_name(err.code), err.path);
        form_encode(&call.form, &first);
        assert_string_equal(text_string(&first), wanted);
        assert_true(form_parse(first.bytes, first.used, &again, NULL));
        form_encode(&again, &second);
        assert_string_equal(text_string(&second), wanted);
        form_release(&again);
        ask_call_release(&call);
        text_release(&first);
        text_release(&second);
        free(arguments);
        free(wanted);
    }
}

static void test_call_around_the_form(void **state)
{
    struct ask_call call = { 0 };

    (void)state;
    assert_true(check("elicit_confirm",
                      "{\"message\":\"Say\",\"timeout_seconds\":7,\"interface\":\"web\","
                      "\"idempotency_key\":\"k\",\"wait_for_previous\":1}",
                      &call, NULL));
    assert_int_equal(call.timeout_s, 7);
    assert_int_equal(call.interface, INTERFACE_WEB);
    assert_string_equal(call.idempotency_key, "k");
    assert_string_equal(call.session_id, "");
    assert_null(strstr(call.arguments_json, "wait_for_previous"));
    ask_call_release(&call);
}

static void test_secrets(void **state)
{
    static const char *const secrets[] = {
        "password",      "Password",     "db_password",
        "dbPassword",    "PASSWORD",     "user-passwd",
        "token",         "GITHUB_TOKEN", "accessToken",
        "api_key",       "apiKey",       "APIKey",
        "API key",       "apikey",       "private_key",
        "client_secret", "credentials",  "pin",
        "PIN code",      "seed phrase",  "\xe5\xaf\x86\xe7\xa0\x81",
    };
    static const char *const harmless[] = {
        "",          "key",       "keyboard", "max_tokens", "token_count",
        "tokenizer", "pinned",    "spin",     "passport",   "name",
        "api",       "secretary", "_",        "monkey",     "averyveryverylongwordwithoutanyend",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        if (!sensitive_is_name(secrets[i]) || !sensitive_is_mentioned(secrets[i]))
            fail_msg("%s is a secret", secrets[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++) {
        if (sensitive_is_name(harmless[i]))
            fail_msg("%s is no secret", harmless[i]);
    }
    assert_true(sensitive_is_mentioned("Which token shall I use for the deploy?"));
    assert_false(sensitive_is_mentioned("Which key shall the song be in?"));
}

static void test_tools_are_found(void **state)
{
    size_t count = 0;

    (void)state;
    for (; ask_tool_at(count); count++)
        assert_ptr_equal(ask_tool_find(ask_tool_at(count)->name), ask_tool_at(count));
    assert_int_equal(count, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),   cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_forms),   cmocka_unit_test(test_call_around_the_form),
        cmocka_unit_test(test_secrets), cmocka_unit_test(test_tools_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
