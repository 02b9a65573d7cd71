"""The memory of coding agents: values and policy, ports, services and the stores behind them."""
