// --grammar: the language's syntax for editors, as a script of vim or a grammar
// of TextMate, which VS Code and others read.  Words come from the tables of
// the language.
//
// A rule has a regular expression for each editor; & stands for the words of
// its table, separated by bars.  The first rule that matches has priority.
#include <string.h>
#include "../../ir/base/json.h"
#include "../../ir/op/op.h"
#include "../parse.h"
#include "../resolve.h"
#include "options.h"

static const char *editors[] = { "vim", "textmate" };
enum { VIM, TEXTMATE, EDITORS };

const char *editor_word(int i)
{
    return i < EDITORS ? editors[i] : NULL;
}

// ---- the words --------------------------------------------------------------

static const char *statement_word(int i)
{
    return i < keyword_count ? keywords[i] : NULL;
}

static const char *type_word(int i)
{
    return i < INPUT_TYPES ? input_types[i] : NULL;
}

static const char *setting_word(int i)
{
    const char *name, *meaning;
    return setting_row(i, &name, &meaning) ? name : NULL;
}

static const char *function_word(int i)
{
    const char *name, *meaning;
    int fewest, most;
    return function_row(i, &name, &fewest, &most, &meaning) ? name : NULL;
}

// Returns name or alias i of the operators with one of the flags.
static const char *named_word(int i, unsigned flags_of_op)
{
    for (int k = 0; k < OP_COUNT; k++) {
        if (!(ops[k]->flags & flags_of_op)) continue;
        if (i-- == 0) return ops[k]->name;
        if (ops[k]->alias != NULL && i-- == 0) return ops[k]->alias;
    }
    return NULL;
}

static const char *operator_word(int i)
{
    return named_word(i, LAYER | LOSS | METRIC);
}

static const char *update_word(int i)
{
    return named_word(i, OPTIMIZER | SCHEDULE);
}

// ---- the rules --------------------------------------------------------------

// The places where a rule holds.
typedef enum Where { ANYWHERE, IN_TRAIN, IN_CALL } Where;

static const struct Rule {
    const char *group, *link;   // of vim
    const char *scope;          // of TextMate
    const char *vim, *textmate;
    Words      *words;
    Where       where;
} rules[] = {
    { "Comment", "Comment", "comment.line.number-sign", "#.*$", "#.*$", NULL,
      ANYWHERE },
    { "String", "String", "string.quoted.double", "\"[^\"]*\"?",
      "\"[^\"\\n]*\"?", NULL, ANYWHERE },
    { "Dims", "Number", "constant.numeric.dimensions", "<\\d+%(x\\d+)+>",
      "\\b[0-9]+(?:x[0-9]+)+\\b", NULL, ANYWHERE },
    { "Float", "Float", "constant.numeric.float",
      "%(\\w|\\.)@<!%(\\d*\\.\\d+%([eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+)>",
      "(?<![\\w.])(?:[0-9]*\\.[0-9]+(?:[eE][+-]?[0-9]+)?|"
      "[0-9]+[eE][+-]?[0-9]+)\\b", NULL, ANYWHERE },
    { "Number", "Number", "constant.numeric.integer", "<\\d+>",
      "\\b[0-9]+\\b", NULL, ANYWHERE },
    { "Setting", "Identifier", "variable.other.setting", "<%(&)>\\ze\\s*\\=",
      "\\b(?:&)\\b(?=\\s*=)", setting_word, IN_TRAIN },
    { "Update", "Function", "support.function.update", "<%(&)>",
      "\\b(?:&)\\b", update_word, IN_TRAIN },
    { "Argument", "Identifier", "variable.parameter",
      "<\\h\\w*>\\ze\\s*\\=\\=@!", "\\b[A-Za-z_]\\w*\\b(?=\\s*=(?!=))", NULL,
      IN_CALL },
    { "Type", "Type", "storage.type", "<%(&)>\\ze\\s*\\[",
      "\\b(?:&)\\b(?=\\s*\\[)", type_word, ANYWHERE },
    { "Operator", "Function", "support.function.operator",
      "%(-\\>\\s*)@9<=<%(&)>|<%(&)>\\ze\\s*\\(",
      "(?:(?<=->)|(?<=-> ))(?:&)\\b|\\b(?:&)\\b(?=\\s*\\()", operator_word,
      ANYWHERE },
    { "Builtin", "Function", "support.function.builtin", "<%(&)>\\ze\\s*\\(",
      "\\b(?:&)\\b(?=\\s*\\()", function_word, ANYWHERE },
    { "Statement", "Statement", "keyword.control", "<%(&)>", "\\b(?:&)\\b",
      statement_word, ANYWHERE },
    { "Word", "Keyword", "keyword.operator.word", "<%(&)>", "\\b(?:&)\\b",
      sign_word, ANYWHERE },
    { "Boolean", "Boolean", "constant.language.boolean", "<%(&)>",
      "\\b(?:&)\\b", truth_word, ANYWHERE },
    { "Sign", "Special", "keyword.operator",
      "-\\>|[=!<>]\\=|[-+*/%<>=:]", "->|[=!<>]=|[-+*/%<>=:]", NULL,
      ANYWHERE },
};
enum { RULES = sizeof rules / sizeof *rules };

// Returns a rule's expression with its words.
static const char *with_words(Arena *arena, const char *pattern, Words *words)
{
    const char *place = words != NULL ? strchr(pattern, '&') : NULL;
    if (place == NULL) return pattern;
    const char *text = arena_copy(arena, pattern, (size_t)(place - pattern));
    for (int i = 0; words(i) != NULL; i++)
        text = arena_print(arena, "%s%s%s", text, i > 0 ? "|" : "", words(i));
    return arena_print(arena, "%s%s", text,
                       with_words(arena, place + 1, words));
}

// ---- vim --------------------------------------------------------------------

// In vim the last of several matches has priority: the order is reversed, and
// regions come last.
static void print_vim(Arena *arena)
{
    puts("\" Vim syntax file: networks of cnnc, written by cnnc --grammar vim\n"
         "if exists(\"b:current_syntax\")\n"
         "    finish\n"
         "endif\n"
         "syn case match");
    // No expression has the delimiter ~.
    for (int i = RULES; i-- > 0;)
        printf("syn match cnn%s ~\\v%s~%s\n", rules[i].group,
               with_words(arena, rules[i].vim, rules[i].words),
               rules[i].where == ANYWHERE ? "" : " contained");
    puts("syn region cnnCall transparent start=\"(\" end=\")\" "
         "contains=ALLBUT,cnnSetting,cnnUpdate\n"
         "syn region cnnTrain matchgroup=cnnStatement "
         "start=\"\\v<train>\\ze\\s*\\{\" matchgroup=NONE end=\"}\" "
         "contains=ALLBUT,cnnArgument");
    for (int i = 0; i < RULES; i++)
        printf("hi def link cnn%s %s\n", rules[i].group, rules[i].link);
    puts("let b:current_syntax = \"cnn\"");
}

// ---- TextMate ---------------------------------------------------------------

static void print_rule(Arena *arena, const struct Rule *rule)
{
    fputs("      { \"name\": ", stdout);
    json_string(arena_print(arena, "%s.cnn", rule->scope), stdout);
    fputs(", \"match\": ", stdout);
    json_string(with_words(arena, rule->textmate, rule->words), stdout);
    fputs(" }", stdout);
}

// Prints the rules of one place as items of a JSON array.
static void print_rules(Arena *arena, Where where)
{
    const char *separator = "";
    for (int i = 0; i < RULES; i++) {
        if (rules[i].where != where) continue;
        fputs(separator, stdout);
        print_rule(arena, &rules[i]);
        separator = ",\n";
    }
}

static void print_textmate(Arena *arena)
{
    puts("{\n"
         "  \"name\": \"cnn\",\n"
         "  \"scopeName\": \"source.cnn\",\n"
         "  \"fileTypes\": [\"cnn\"],\n"
         "  \"patterns\": [\n"
         "    { \"include\": \"#train\" }, { \"include\": \"#call\" },\n"
         "    { \"include\": \"#rules\" }\n"
         "  ],\n"
         "  \"repository\": {\n"
         "    \"train\": { \"begin\": \"\\\\b(train)(?=\\\\s*\\\\{)\",\n"
         "      \"beginCaptures\": { \"1\": { \"name\": "
         "\"keyword.control.cnn\" } },\n"
         "      \"end\": \"\\\\}\", \"patterns\": [");
    print_rules(arena, IN_TRAIN);
    puts(",\n"
         "      { \"include\": \"#call\" }, { \"include\": \"#rules\" }] },\n"
         "    \"call\": { \"begin\": \"\\\\(\", \"end\": \"\\\\)\", "
         "\"patterns\": [");
    print_rules(arena, IN_CALL);
    puts(",\n"
         "      { \"include\": \"#call\" }, { \"include\": \"#rules\" }] },\n"
         "    \"rules\": { \"patterns\": [");
    print_rules(arena, ANYWHERE);
    puts("] }\n  }\n}");
}

int show_grammar(Options *o, const char *value)
{
    int editor = choose(o, "--grammar", value, editor_word);
    if (editor == VIM) print_vim(o->arena);
    if (editor == TEXTMATE) print_textmate(o->arena);
    return editor < 0 ? EXIT_USAGE : EXIT_DONE;
}
