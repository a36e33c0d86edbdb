// The trainer, compiled once for many emitted files (cut_trainer).
#include "../../runtime/trainer/main.cuh"

int run_trainer(const Net *net, int argc, char **argv);

int run_trainer(const Net *net, int argc, char **argv)
{
    return trainer_main(net, argc, argv);
}
