/* The lines of a text file, and their cells. */
#ifndef GA_OPS_TEXT_CELLS_H
#define GA_OPS_TEXT_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/error.h>

/* How a line is divided. */
typedef struct ga__cell_rules {
    char delimiter;       /* 0: white space */
    char quote;           /* 0: none */
    const char *comments; /* begins a comment; "": none */
} ga__cell_rules;

/* An open file. */
typedef struct ga__text_reader {
    const char *path;
    int fd;
    char *buffer; /* owned: what was read, and is not yet a line, from `at` on */
    size_t room, used, at;
    bool ended;
    long long line; /* the number of the last line, from 1 on */
    char **cells;   /* owned: those of that line, each ended by '\0', until the next one */
    int64_t ncells, mostcells;
} ga__text_reader;

/* Opens the file; GA_ERR_IO, and nothing to close. */
ga_status ga__text_open(ga__text_reader *r, const char *path);
void ga__text_close(ga__text_reader *r);

/* Reads the next line into *text, which is valid until the next call; NULL at the end. */
ga_status ga__text_next(ga__text_reader *r, char **text);

/* Divides the line, which it changes, into r->cells. A line without numbers has none. */
ga_status ga__text_divide(ga__text_reader *r, const ga__cell_rules *rules, char *text);

#endif
