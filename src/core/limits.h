/* limits.h - sizes everybody must agree on; the same figures as tests/corpus/limits.json. */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

enum {
    LIMIT_ID_CHARS = 26,
    LIMIT_ID_PREFIX_CHARS = 4, /* people may type a unique prefix of so many or more */
    LIMIT_TITLE_CHARS = 200,
    LIMIT_PROMPT_BYTES = 65536,
    LIMIT_PROMPT_CHARS_MIN = 20,
    LIMIT_LABEL_CHARS = 200,
    LIMIT_DESCRIPTION_CHARS = 2000,
    LIMIT_OPTION_ID_BYTES = 128,
    LIMIT_OPTIONS = 100,
    LIMIT_TIMEOUT_S = 2592000,
    LIMIT_ANSWER_TEXT_BYTES = 65536,
    LIMIT_IDEMPOTENCY_KEY_BYTES = 128,
    LIMIT_ANSWER_KEY_BYTES = 160, /* room for the ask's id in front of such a key */
    LIMIT_PLACEHOLDER_CHARS = 200,
    LIMIT_PREVIEW_BYTES = 65536,
    LIMIT_ANNOTATION_CHARS = 2000,
    LIMIT_SAID_CHARS = 2000, /* of what a person asks back */
    LIMIT_EXPLANATION_CHARS = 8000,
    LIMIT_TALK = 100, /* of what was said about an ask, so many are shown */
    LIMIT_MESSAGE_CHARS = 4000,
    LIMIT_QUESTIONS = 4,
    LIMIT_QUESTION_CHARS = 4000,
    LIMIT_QUESTION_OPTIONS_MIN = 2,
    LIMIT_QUESTION_OPTIONS = 4,
    LIMIT_HEADER_CHARS = 12,
    LIMIT_TOOL_USE_ID_BYTES = 128,
    LIMIT_TOOL_RESULT_BYTES = 524288,
    LIMIT_UNIT_CHARS = 32,
    LIMIT_RATING = 10, /* stars */
    LIMIT_FORM_FIELDS = 32,
    LIMIT_FIELD_NAME_BYTES = 64,
    LIMIT_WAIT_S = 60,
    LIMIT_RPC_LINE_BYTES = 1048576,
    LIMIT_DELIVERED = 256,  /* results that one call confirms */
    LIMIT_ECHO_CHARS = 120, /* of the caller's input in an error message */
};

#endif
