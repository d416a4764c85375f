/* The version of these headers. ga_version() is the version of the library. */
#ifndef QUARRY_VERSION_H
#define QUARRY_VERSION_H

/* QUARRY_VERSION_NUMBER is 10000 * major + 100 * minor + patch. docs/abi.md says what a change of
 * each part means. */
#define QUARRY_VERSION_MAJOR 0
#define QUARRY_VERSION_MINOR 1
#define QUARRY_VERSION_PATCH 0
#define QUARRY_VERSION_NUMBER                                                                      \
    (10000 * QUARRY_VERSION_MAJOR + 100 * QUARRY_VERSION_MINOR + QUARRY_VERSION_PATCH)

#endif
