# The program mlp.tly in Python, to compare the peak of memory: prints bytes of
# the process at most.
import resource
import torch

torch.manual_seed(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
shapes = (torch.rand(10, 784) > 0.8).float()
w = [(torch.randn(784, 128) / 28).requires_grad_(),
     (torch.randn(128, 10) / 128 ** 0.5).requires_grad_()]


def forward(x):
    return torch.relu(x @ w[0]) @ w[1]


def step(n, rate):
    y = torch.randint(10, (n,))
    x = torch.randn(n, 784).mul_(0.5).add_(shapes[y])
    loss = torch.nn.functional.cross_entropy(forward(x), y)
    g = torch.autograd.grad(loss, w)
    with torch.no_grad():
        torch._foreach_sub_(w, torch._foreach_mul(g, rate))
    return loss.item()


for i in range(300):
    step(256, 0.1)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"peak {after // 1024} MB, {(after - before) // 1024} MB of them by training")
