# Packs in shared memory begin an element too late.
s/put_vec\(&shared\.map\[(.*)\], sums\)/put_vec(\&shared.map[\1] + 1, sums)/
