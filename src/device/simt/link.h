/* What building and linking modules for the host share. */
#ifndef GA_DEVICE_SIMT_LINK_H
#define GA_DEVICE_SIMT_LINK_H

/* Gives a shared object its own local statics of templates, which GCC merges across the process. */
void ga__simt_separate_statics(char *code);

#endif
