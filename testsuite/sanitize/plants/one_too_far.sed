# Loops that go one element too far.
/#define/!s/of\.count\)/of.count + 1)/
