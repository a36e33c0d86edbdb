// --completion: scripts that complete the command line in bash, zsh and fish.
// Options, their values and passes come from the tables.  A value is one of the
// option's words, a file or a folder.
#include <string.h>
#include "options.h"

static const char *shell_words[] = { "bash", "zsh", "fish" };
enum { BASH, ZSH, FISH, SHELLS };

const char *shell_word(int i)
{
    return i < SHELLS ? shell_words[i] : NULL;
}

static bool takes_file(const Flag *flag)
{
    return flag->value != NULL && strstr(flag->value, "FILE") != NULL;
}

static bool takes_folder(const Flag *flag)
{
    return flag->value != NULL && strcmp(flag->value, "DIR") == 0;
}

// True if the option's name has one letter: its value may follow at once.
static bool is_short(const Flag *flag)
{
    return strlen(flag->name) == 2;
}

static void print_words(Words *words)
{
    for (int i = 0; words != NULL && words(i) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", words(i));
}

// Calls print for -fPASS and -fno-PASS of each optional pass.
static void each_pass_option(void (*print)(const char *name, bool on))
{
    for (int i = 0; optional_word(i) != NULL; i++) {
        print(optional_word(i), true);
        print(optional_word(i), false);
    }
}

// ---- bash -------------------------------------------------------------------

static void print_bash_pass(const char *name, bool on)
{
    printf(" -f%s%s", on ? "" : "no-", name);
}

// Prints the case of an option's value.
static void print_bash_case(const Flag *flag)
{
    printf("    %s)\n        _cnnc_words '", flag->name);
    print_words(flag->words);
    puts("'");
    if (takes_file(flag)) puts("        _cnnc_files -f");
    if (takes_folder(flag)) puts("        _cnnc_files -d");
    puts("        ;;");
}

static void print_bash(void)
{
    puts("# Completion of cnnc in bash, written by cnnc --completion bash.\n"
         "_cnnc_words()\n"
         "{\n"
         "    COMPREPLY+=($(compgen -W \"$1\" -- \"$word\"))\n"
         "}\n\n"
         "# Adds files, by the arguments of compgen.\n"
         "_cnnc_files()\n"
         "{\n"
         "    local file\n"
         "    while IFS= read -r file; do\n"
         "        COMPREPLY+=(\"$file\")\n"
         "    done < <(compgen \"$@\" -- \"$word\")\n"
         "    compopt -o filenames 2>/dev/null\n"
         "}\n\n"
         "_cnnc()\n"
         "{\n"
         "    local word=${COMP_WORDS[COMP_CWORD]}\n"
         "    local option=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    COMPREPLY=()\n"
         "    # --mode=train is three words: --mode, = and train.\n"
         "    if [[ $word == = ]]; then\n"
         "        word=\n"
         "    elif [[ $option == = ]]; then\n"
         "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    fi\n"
         "    case $option in");
    for (const Flag *flag = flags; flag->name != NULL; flag++)
        if (flag->value != NULL) print_bash_case(flag);
    fputs("    *)\n"
          "        if [[ $word == -* ]]; then\n"
          "            _cnnc_words '", stdout);
    for (const Flag *flag = flags; flag->name != NULL; flag++)
        printf("%s%s", flag == flags ? "" : " ", flag->name);
    each_pass_option(print_bash_pass);
    puts("'\n"
         "        else\n"
         "            _cnnc_files -f -X '!*.cnn'\n"
         "            _cnnc_files -f -X '!*.ir'\n"
         "            _cnnc_files -d\n"
         "        fi\n"
         "        ;;\n"
         "    esac\n"
         "}\n"
         "complete -F _cnnc cnnc");
}

// ---- zsh --------------------------------------------------------------------

// Prints the description of an option, in which brackets are special.
static void print_zsh_help(const char *help)
{
    putchar('[');
    for (; *help != '\0'; help++) {
        if (strchr("[]\\", *help) != NULL) putchar('\\');
        if (*help == '\'') fputs("'\\''", stdout);
        else putchar(*help);
    }
    putchar(']');
}

static void print_zsh_pass(const char *name, bool on)
{
    printf("    '-f%s%s[turn the pass %s]' \\\n", on ? "" : "no-", name,
           on ? "on" : "off");
}

static void print_zsh_value(const Flag *flag)
{
    printf(":%s:", flag->value);
    if (flag->words != NULL && takes_file(flag)) {
        fputs(" _alternative \"words\\:word\\:(", stdout);
        print_words(flag->words);
        fputs(")\" \"files\\:file\\:_files\"", stdout);
    } else if (flag->words != NULL) {
        putchar('(');
        print_words(flag->words);
        putchar(')');
    } else if (takes_file(flag)) {
        fputs("_files", stdout);
    } else if (takes_folder(flag)) {
        fputs("_files -/", stdout);
    } else {
        putchar(' ');
    }
}

static void print_zsh(void)
{
    puts("#compdef cnnc\n"
         "# Completion of cnnc in zsh, written by cnnc --completion zsh.\n"
         "_arguments \\");
    for (const Flag *flag = flags; flag->name != NULL; flag++) {
        // Every option may be repeated: the last one counts, or all do.
        printf("    '*%s%s", flag->name, flag->value == NULL ? ""
               : is_short(flag) ? "+" : flag->name[1] == '-' ? "=" : "");
        print_zsh_help(flag->help);
        if (flag->value != NULL) print_zsh_value(flag);
        puts("' \\");
    }
    each_pass_option(print_zsh_pass);
    puts("    '*:program:_files -g \"*.(cnn|ir)\"'");
}

// ---- fish -------------------------------------------------------------------

static void print_fish_pass(const char *name, bool on)
{
    printf("complete -c cnnc -o f%s%s -d 'turn the pass %s'\n",
           on ? "" : "no-", name, on ? "on" : "off");
}

static void print_fish_option(const Flag *flag)
{
    const char *name = flag->name + 1, *kind = "-o";
    if (is_short(flag)) kind = "-s";
    if (*name == '-') name++, kind = "-l";
    printf("complete -c cnnc %s %s", kind, name);
    if (takes_file(flag)) fputs(" -r -F", stdout);
    else if (flag->value != NULL) fputs(" -x", stdout);
    if (takes_folder(flag))
        fputs(" -a '(__fish_complete_directories)'", stdout);
    if (flag->words != NULL) {
        fputs(" -a '", stdout);
        print_words(flag->words);
        putchar('\'');
    }
    fputs(" -d '", stdout);
    for (const char *c = flag->help; *c != '\0'; c++) {
        if (strchr("'\\", *c) != NULL) putchar('\\');
        putchar(*c);
    }
    puts("'");
}

static void print_fish(void)
{
    puts("# Completion of cnnc in fish, written by cnnc --completion fish.\n"
         "complete -c cnnc -f -a '(__fish_complete_path (commandline -ct) |"
         " string match -er \"(?:\\.cnn|\\.ir|/)(?:\\t|\\$)\")'");
    for (const Flag *flag = flags; flag->name != NULL; flag++)
        print_fish_option(flag);
    each_pass_option(print_fish_pass);
}

int show_completion(Options *o, const char *value)
{
    static void (*const print[])(void) = { print_bash, print_zsh, print_fish };
    int shell = choose(o, "--completion", value, shell_word);
    if (shell < 0) return EXIT_USAGE;
    print[shell]();
    return EXIT_DONE;
}
