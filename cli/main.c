/* The quarry command: finds the subcommand and runs it. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const command *const commands[] = {&info_command, &eval_command, &show_command,
                                          &cache_command, &bench_command};

#define COMMANDS (sizeof commands / sizeof *commands)

static int help(void)
{
    printf("usage: quarry COMMAND [ARGUMENT...]\n"
           "       quarry --help | --version\n"
           "\n"
           "NumPy-like arrays on the GPU, from the shell.\n"
           "\n");
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i] != &bench_command || bench_is_installed())
            printf("  %-6s %s\n", commands[i]->name, commands[i]->summary);
    printf(
        "\n"
        "quarry COMMAND --help tells more. QUARRY_DEVICE chooses the device: cpu, cuda, cuda:1.\n");
    return finish_output();
}

static const command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int run(int argc, char **argv)
{
    const char *name = argv[1];
    const command *c = find(name);

    if (c)
        return c->run(c, argc - 1, argv + 1);
    if (strcmp(name, "help") == 0 && argc > 2) {
        c = find(argv[2]);
        return c ? c->run(c, 2, (char *[]){argv[2], "--help", NULL})
                 : complain_usage(NULL, "usage: unknown command \"%s\"", argv[2]);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help();
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("quarry %s\n", ga_version());
        return finish_output();
    }
    return complain_usage(
        NULL, *name == '-' ? "usage: unknown option %s" : "usage: unknown command \"%s\"", name);
}

int main(int argc, char **argv)
{
    return argc < 2 ? complain_usage(NULL, "usage: no command is given") : run(argc, argv);
}
