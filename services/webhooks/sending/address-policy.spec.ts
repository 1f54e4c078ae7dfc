import { describe, expect, test } from '@jest/globals';
import { AddressPolicy } from './address-policy.js';

const policy = new AddressPolicy();

describe('an address', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::a9fe:a9fe',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:db8::1',
    '2001:10::1',
    '2001:20::1',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '3fff::1',
    '4000::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'nonsense',
    '',
  ])('that is not of the public Internet is refused: %s', (address) => {
    expect(policy.permits(address)).toBe(false);
  });

  test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'])(
    'of the public Internet may be reached: %s',
    (address) => {
      expect(policy.permits(address)).toBe(true);
    },
  );

  test('in a range that the operator allows may be reached, and its neighbours may not', () => {
    const own = new AddressPolicy(['10.1.0.0/16', 'fd00:1::/32']);
    expect(['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::5'].map((one) => own.permits(one))).toEqual([
      true,
      true,
      true,
    ]);
    expect(['10.2.0.1', 'fd00:2::1', '127.0.0.1'].map((one) => own.permits(one))).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('the host of a URL', () => {
  test.each([
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://%31%32%37.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://localhost/',
    'http://localhost./',
    'http://LOCALHOST:8080/',
    'http://me.localhost/',
    'http://169.254.169.254/latest/meta-data/',
  ])('is refused however it is spelled: %s', (url) => {
    expect(policy.refusalOf(new URL(url).hostname)).toEqual(expect.any(String));
  });

  test.each([
    'https://example.com/hook',
    'https://localhost.example.com/',
    'https://1.1.1.1/',
    'http://10.example/',
  ])('may be tried: %s', (url) => {
    expect(policy.refusalOf(new URL(url).hostname)).toBeUndefined();
  });

  test('is this machine only where the operator allows that', () => {
    const own = new AddressPolicy(['127.0.0.0/8']);
    expect(own.refusalOf('localhost')).toBeUndefined();
    expect(own.refusalOf('127.0.0.1')).toBeUndefined();
    expect(own.refusalOf('[::1]')).toEqual(expect.any(String));
  });
});
