// A planted fault: the sum begins with old bytes of the stack.
int planted_sum(const int *numbers, int count);

int planted_sum(const int *numbers, int count)
{
    int sum;
    if (count > 8) sum = 0;
    for (int i = 0; i < count; i++) sum += numbers[i];
    return sum;
}
