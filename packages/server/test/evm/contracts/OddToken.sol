// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// An ERC-20 whose logs and balances part in every way that tokens are known to.
contract OddToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint256 public totalSupply;
    uint256 public rate = 1e18;
    mapping(address => uint256) private shares;

    function balanceOf(address owner) external view returns (uint256) {
        return (shares[owner] * rate) / 1e18;
    }

    function mint(address to, uint256 amount) external {
        mintSilently(to, amount);
        emit Transfer(address(0), to, amount);
    }

    function mintSilently(address to, uint256 amount) public {
        shares[to] += amount;
        totalSupply += amount;
    }

    function burnSilently(address from, uint256 amount) external {
        shares[from] -= amount;
        totalSupply -= amount;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        shares[msg.sender] -= amount;
        shares[to] += amount;
        emit Transfer(msg.sender, to, amount);
        return true;
    }

    /// A tenth is lost on the way.
    function transferTaxed(address to, uint256 amount) external {
        shares[msg.sender] -= amount;
        shares[to] += amount - amount / 10;
        totalSupply -= amount / 10;
        emit Transfer(msg.sender, to, amount);
    }

    /// Says that something was transferred.
    function boast(address[] calldata to, uint256 amount) external {
        for (uint256 i = 0; i < to.length; i++) emit Transfer(msg.sender, to[i], amount);
    }

    /// Every balance grows, and nothing is logged.
    function rebase(uint256 newRate) external {
        totalSupply = (totalSupply * newRate) / rate;
        rate = newRate;
    }
}
