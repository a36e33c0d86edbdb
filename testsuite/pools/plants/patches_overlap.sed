# Patches begin a window apart, however many windows they hold.
s/i % ACROSS \* Shape::BLOCK_Q\)/i % ACROSS)/
