# Packs in shared memory begin an element too late.
s/store_shared\(&shared\.map\[(.*)\], run\)/store_shared(\&shared.map[\1] + 1, run)/
