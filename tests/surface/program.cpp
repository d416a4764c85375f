/* The program in C++. */
#include "program.c"
