// The operands of a block's product (tile.h), packed for its multiplication.
#ifndef CNNC_HOST_TILE_OPERAND_H
#define CNNC_HOST_TILE_OPERAND_H

#include "tile.h"

// The steps that are packed and multiplied at a time.
constexpr int TILE_DEPTH = 64;

// A chunk of packed steps: lane i of step k is at[i * lane + k * step].
template <class T>
struct TileChunk {
    T  *at;
    int lane, step;
};

// One operand of the products of an OS thread.
template <class T>
class TileOperand {
public:
    // Begins with an operand of the running block, over the steps [begin, end).
    // The `lanes` of a step are adjacent if the operand is not `along` or
    // `to_turn`.  `to_round`: to TF32.  Packed chunks are kept for other blocks
    // of the launch if `keeps`.
    void begin(const HostOperand *of, long long begin, long long end, int lanes,
               bool to_turn, bool to_round, bool keeps);
    // Returns the `count` steps from k on; chunks are taken in order.
    TileChunk<T> chunk(long long k, int count);
    // Rounds the `count` steps of a chunk to TF32.
    void round(const TileChunk<T> &chunk, int count) const;

private:
    static constexpr int MAX_LANES = HostOperand::MAX_LANES;
    // Kept chunks, for as many operands as fit.
    static constexpr int MAX_KEPT = 64;
    static constexpr size_t MAX_ELEMENTS = 2 << 20;
    // Computed elements that taps and blocks share: PIECES pieces.
    static constexpr int PIECE = 64, PIECES = 8192;

    struct Operand {
        HostOperand o;
        long long   begin, end;
        size_t      at;
    };
    struct Piece {
        long long number;
        uint64_t  launch;
        int       from, to;     // the elements that are there
    };
    // Adjacent elements: `count` of them from position `begin` on, in one line
    // of a map, from pixel `w` to pixel `last`.
    struct Run {
        int       begin, count;
        long long offset;
        int       h, w, last;
    };

    size_t chunk_elements() const { return (size_t)pitch * TILE_DEPTH; }
    bool find_kept(long long begin, long long end);
    void find_runs(const HostOffset *at, int count);
    void find_steps(long long k, int count);
    const T *piece(long long number, int begin, int end);
    void load_computed(long long i, int count, T *to);
    template <class Load>
    void load_edge(const Load &load, const HostOffset &other, const Run &run,
                   T *to);
    template <class Load>
    void visit_runs(const Load &load, int j, T *out);
    template <class Load>
    void pack_runs(const Load &load, int others, T *out, int apart);
    const T *compute_all(int others);
    void pack(int others, T *out, int apart);

    const HostOperand *o;
    long long  first_step;
    int        pitch;
    bool       turns, rounds, is_kept, is_packed;
    T         *packed;
    HostOffset step[TILE_DEPTH];
    Run        runs[MAX_LANES];
    int        run_count;
    uint64_t   launch;          // of the kept operands
    int        kept_count;
    size_t     kept_elements;
    Operand    kept[MAX_KEPT];
    Piece      pieces[PIECES];
    T          computed[PIECES * PIECE];
    alignas(64) T turned[MAX_LANES * TILE_DEPTH];
    alignas(64) T elements[MAX_ELEMENTS];
};

#endif
