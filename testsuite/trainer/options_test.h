// The command line: options that are mistyped, of other commands, without effect; help; names of
// classes; lines without a terminal.
#pragma once
#include "check.h"

// True if the error stream has one line, with these words; empties it.
static bool complained_once(const char *words)
{
    fflush(stderr);
    bool once = lines_of("complaints") == 1;
    if (!once) fprintf(report, "more lines than one, or none: %s\n", text_of("complaints"));
    return complained(words) && once;
}

static void test_mistyped()
{
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"train --epoch 3", "train has no option --epoch: did you mean --epochs; linear train --help"},
        {"train --Save_State x", "did you mean --save-state"},
        {"train --learning-rate 3", "did you mean --lr"},
        {"train --val-sp 0.1", "did you mean --val-split"},
        {"train --batch-size 3", "the batch is that of cnnc --batch N"},
        {"train --qqqq", "train has no option --qqqq; linear train --help lists them"},
        {"train --confusion", "train has no option --confusion: it is an option of eval"},
        {"eval --load a x", "eval takes no argument x: options begin with --"},
        {"train --flip=1", "--flip takes no argument, not 1"},
        {"train --save --epochs 3", "--save needs FILE, not the option --epochs"},
        {"train --save", "--save needs FILE"},
        {"test --load a", "wanted a command, not test: did you mean eval"},
        {"trian", "wanted a command, not trian: did you mean train"},
        {"--data . train", "wanted a command before --data: linear COMMAND [OPTION...]"},
        {"", "wanted a command: train, eval, predict, step or info; linear --help tells more"}};
    for (const auto &row : rows) CHECK(run(row.line) == 2 && complained_once(row.words));
    CHECK(run("train --data .", false) == 2);
    CHECK(complained_once("not train: a program of --mode infer does not train"));
    CHECK(run("train --data=. --epochs=2 --save=equals") == 0);
    CHECK(same_files("a", "equals"));
}

static void test_help()
{
    for (const char *line : {"--help", "-h", "help"}) {
        CHECK(run(line) == 0 && told("usage: linear COMMAND [OPTION...]\n  train "));
        CHECK(run(line, false) == 0 && told("usage: linear COMMAND [OPTION...]\n  eval "));
    }
    for (const char *line : {"train --help", "train -h", "train --epochs 3 --help"})
        CHECK(run(line) == 0 && told("usage: linear train [OPTION...] "));
    CHECK(run("eval --help") == 0 && told("usage: linear eval --load FILE [OPTION...] "));
}

// An option that changes nothing is refused, or a warning says so.
static void test_no_effect()
{
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"train --data . --train image=a --train image=train-images-idx3-ubyte",
         "--train image=a has no effect"},
        {"train --data . --train-images a --train image=train-images-idx3-ubyte",
         "--train-images a has no effect"},
        {"predict --load a --classes c --test-images test-images-idx3-ubyte --data .",
         "--data . has no effect: no input is read from there"},
        {"predict --load a --classes c --data . --test label=test-labels-idx1-ubyte",
         "--test label=test-labels-idx1-ubyte has no effect"},
        {"train --data npy --data .", "--data npy has no effect"}};
    for (const auto &row : rows) CHECK(run(row.line) == 1 && complained(row.words));
    CHECK(run("train --data . --epochs 1 --epochs 2 --save e") == 0 && same_files("a", "e"));
    CHECK(complained_once("warning: --epochs 1 has no effect: --epochs 2 follows it"));
    CHECK(run("train --data . --epochs 2 --val-split 0.2 --patience 2") == 0);
    CHECK(complained_once("warning: --patience 2 has no effect: there are no more than 2 epochs"));
    CHECK(run("train --data . --epochs 1 --save-state e.state --save-every 4") == 0);
    CHECK(complained_once("warning: --save-every 4 has no effect: an epoch has 4 training steps"));
    CHECK(run("train --data . --epochs 1 --save-state e.state --save-every 3") == 0);
    fflush(stderr);
    CHECK(lines_of("complaints") == 0);
}

// A state is no weights, weights are no state, and any other file given as
// weights is named.
static void test_wrong_files()
{
    write_file("torch.pt", "PK\3\4........", 12);
    write_file("keras.h5", "\x89HDF........", 12);
    CHECK(run("eval --data . --load e.state") == 1);
    CHECK(complained("e.state: is a state of --save-state, not weights: train --resume e.state"));
    CHECK(run("train --data . --epochs 2 --resume a") == 1);
    CHECK(complained("a: is weights, not a state of --save-state: --load a begins a run"));
    CHECK(run("eval --data . --load torch.pt") == 1 && complained("wanted safetensors"));
    CHECK(run("eval --data . --load keras.h5") == 1 && complained("wanted safetensors"));
}

// Without a terminal a line comes when it is due.
static void test_plain_lines()
{
    CHECK(run("train --data . --epochs 2") == 0 && told("epoch 2/2 loss"));
    plain_seconds = 0;
    CHECK(run("train --data . --epochs 2 --val-split 0.3") == 0);
    CHECK(strstr(text_of("output"), "epoch 1/2 64/140 samples eta 0:00 loss "));
    CHECK(told("\nvalidation 60/60 samples\n"));
    CHECK(run("eval --data . --load a") == 0 && told("\ntest 64/70 samples\n"));
    CHECK(run("predict --data . --load a --classes c.csv") == 0);
    CHECK(told("\npredict 70/70 samples\n"));
    plain_seconds = 1000;
    CHECK(run("train --data . --epochs 2") == 0);
    CHECK(!strstr(text_of("output"), "samples eta"));
    plain_seconds = 30;
}

// Names of classes come from classes.txt next to labels or images; sets whose
// numbers mean something else are refused.
static void test_class_names()
{
    static const char names[] = "ant\nbee\r\n\"c\", d\nelk\nfox\ngnu\nhen\nibis\njay\nkea\n";
    static const char others[] = "ant\nbee\nelk\n";
    write_file("npy/train/classes.txt", names, strlen(names));
    write_file("npy/test/classes.txt", names, strlen(names));
    CHECK(run("eval --data npy --load a --confusion") == 0);
    CHECK(told("          7  kea\n mean"));
    CHECK(run("predict --data npy --load a --classes c.csv") == 0);
    const char *text = text_of("c.csv");
    CHECK(strstr(text, "sample,class,name\n0,0,ant\n1,7,ibis\n") && strstr(text, ",1,bee\n"));
    CHECK(strstr(text, ",2,\"\"\"c\"\", d\"\n"));
    // Without names of its own a set has those of the training set.
    CHECK(!remove("npy/test/classes.txt"));
    CHECK(run("predict --data npy --load a --classes d.csv") == 0 && same_files("c.csv", "d.csv"));
    write_file("npy/test/classes.txt", others, strlen(others));
    const char *words = "npy/test/classes.txt: class 2 is elk, and in npy/train/classes.txt it is "
                        "\"c\", d: wanted the same classes";
    CHECK(run("train --data npy --epochs 1") == 1 && complained(words));
    CHECK(run("eval --data npy --load a --confusion") == 1 && complained(words));
    CHECK(!remove("npy/train/classes.txt") && run("eval --data npy --load a --confusion") == 0);
    CHECK(told("          7  elk\n    3 "));
    write_file("npy/test/classes.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk", 21);
    CHECK(run("eval --data npy --load a --confusion") == 1);
    CHECK(complained("wanted the names of at most 10 classes, which the net has, found 11"));
    CHECK(!remove("npy/test/classes.txt"));
}

static void test_options()
{
    test_mistyped();
    test_help();
    test_no_effect();
    test_wrong_files();
    test_plain_lines();
    test_class_names();
}
