"""HTTP: guards, routes, request and response models, and the handlers behind them."""
