-- AlterTable
ALTER TABLE "personal_token" ADD COLUMN     "delegators" UUID[];

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "delegators" UUID[];

-- AlterTable
ALTER TABLE "identity" ADD COLUMN     "delegators" UUID[];

-- AlterTable
ALTER TABLE "passkey" ADD COLUMN     "delegators" UUID[];

-- AlterTable
ALTER TABLE "sign_in_link" ADD COLUMN     "delegators" UUID[];

-- What schema.prisma cannot say.

-- An unknown creator is the nil UUID. What the server created was made for its user by no other one.
UPDATE "personal_token" SET "delegators" = CASE
    WHEN "created_by_type" IS NULL OR "created_by_id" IS NULL THEN ARRAY['00000000-0000-0000-0000-000000000000'::uuid]
    WHEN "created_by_type" = 'user' AND "created_by_id" <> "user_id" THEN ARRAY["created_by_id"]
    ELSE ARRAY[]::uuid[] END;
UPDATE "identity" SET "delegators" = CASE
    WHEN "created_by_type" IS NULL OR "created_by_id" IS NULL THEN ARRAY['00000000-0000-0000-0000-000000000000'::uuid]
    WHEN "created_by_type" = 'user' AND "created_by_id" <> "user_id" THEN ARRAY["created_by_id"]
    ELSE ARRAY[]::uuid[] END;
UPDATE "passkey" SET "delegators" = CASE
    WHEN "created_by_type" IS NULL OR "created_by_id" IS NULL THEN ARRAY['00000000-0000-0000-0000-000000000000'::uuid]
    WHEN "created_by_type" = 'user' AND "created_by_id" <> "user_id" THEN ARRAY["created_by_id"]
    ELSE ARRAY[]::uuid[] END;

-- The creator of the token that a link was created with may have seen the link too.
UPDATE "sign_in_link" l SET "delegators" = ARRAY(
    SELECT DISTINCT d."id" FROM (
        SELECT l."created_by" AS "id"
        UNION ALL SELECT unnest(t."delegators") FROM "personal_token" t WHERE t."id" = l."personal_token_id") d
    WHERE d."id" IS DISTINCT FROM l."user_id" ORDER BY d."id");

-- A session whose way to sign in was removed has ended.
UPDATE "session" s SET "delegators" = COALESCE(
    (SELECT "delegators" FROM "personal_token" WHERE "id" = s."personal_token_id"),
    (SELECT "delegators" FROM "identity" WHERE "id" = s."identity_id"),
    (SELECT "delegators" FROM "passkey" WHERE "id" = s."passkey_id"),
    (SELECT "delegators" FROM "sign_in_link" WHERE "id" = s."sign_in_link_id"),
    ARRAY['00000000-0000-0000-0000-000000000000'::uuid]);

ALTER TABLE "personal_token" ALTER COLUMN "delegators" SET NOT NULL;
ALTER TABLE "session" ALTER COLUMN "delegators" SET NOT NULL;
ALTER TABLE "identity" ALTER COLUMN "delegators" SET NOT NULL;
ALTER TABLE "passkey" ALTER COLUMN "delegators" SET NOT NULL;
ALTER TABLE "sign_in_link" ALTER COLUMN "delegators" SET NOT NULL;
