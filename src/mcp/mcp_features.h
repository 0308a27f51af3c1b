/*
 * mcp_features.h - what a server has for its clients, as tables: tools, prompts, resources, and
 * what completes their arguments. One is the product's; a server may be given another
 * (mcp_parts.features).
 */
#ifndef MCP_MCP_FEATURES_H
#define MCP_MCP_FEATURES_H
#include <stdbool.h>
#include <stddef.h>

#include "mcp/call.h"

struct hub_session;
struct tool;

struct mcp_prompt_argument {
    const char *name, *description;
    bool is_required;
};
struct mcp_prompt {
    const char *name, *description; /* for agents, English */
    const struct mcp_prompt_argument *arguments;
    size_t argument_count;
    void (*run)(struct mcp_call *call, const struct json *arguments); /* replies, now or later */
};

struct mcp_resource {
    const char *uri; /* of a template with {names} */
    const char *name, *title, *description, *mime_type;
};

/* What a person is typing: an argument of a prompt, or a name in a template. */
struct completion_request {
    const struct mcp_prompt *prompt;     /* NULL: of a template */
    const struct mcp_resource *template; /* NULL: of a prompt */
    const char *argument, *value;
};

struct mcp_features {
    const struct tool *const *tools; /* NULL behind the last */
    const struct mcp_prompt *prompts;
    size_t prompt_count;
    const struct mcp_resource *resources, *templates;
    size_t resource_count, template_count;
    bool needs_session;                    /* reading and completing need a session */
    enum mcp_level level;                  /* of log messages, until a legacy client says */
    bool (*has_resource)(const char *uri); /* by its form: it may be subscribed to */
    void (*read)(struct mcp_call *call, const char *uri);
    /* The service shall tell of changes: of asks_take_event. NULL: nothing of this changes. */
    void (*follow)(struct hub_session *session);
    void (*complete)(struct mcp_call *call, const struct completion_request *completion);
};
extern const struct mcp_features mcp_product_features;
/* The product's and tools of other servers under their names (mcp/compat/compat.h). */
const struct mcp_features *mcp_compat_features(void);

#endif
