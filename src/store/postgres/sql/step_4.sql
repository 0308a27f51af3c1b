-- As in store/sqlite/schema.c. Once released, this file is never edited.

CREATE INDEX asks_unheard ON asks (principal, number) WHERE (flags & 3072) = 1024;
